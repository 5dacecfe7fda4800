"""The names of `possnet.io`, each listed once: `possnet.io.__init__` loads them from here when they are first used."""

from .atomic_files import (
    discard_unfinished as discard_unfinished,
    make_folder as make_folder,
    remove_file as remove_file,
    replace_file as replace_file,
    sync_folder as sync_folder,
    temporary_folder as temporary_folder,
    write_bytes as write_bytes,
    write_text as write_text,
)
from .data_files import (
    DataStream as DataStream,
    column_domains as column_domains,
    column_names as column_names,
    fraction_columns as fraction_columns,
    number_columns as number_columns,
    plain_columns as plain_columns,
    read_columns as read_columns,
    read_data as read_data,
    scan_data as scan_data,
    write_data as write_data,
)
from .data_source import DataSource as DataSource
from .examples import example_names as example_names, load_example as load_example
from .file_access import file_error as file_error, read_bytes as read_bytes
from .folder_lock import LOCK as LOCK, lock_folder as lock_folder
from .format_registries import (
    DATA_FORMATS as DATA_FORMATS,
    NETWORK_FORMATS as NETWORK_FORMATS,
    choose_format as choose_format,
    describe_formats as describe_formats,
    has_suffix as has_suffix,
    join_suffixes as join_suffixes,
    known_suffixes as known_suffixes,
)
from .formats import DataFormat as DataFormat, NetworkFormat as NetworkFormat
from .json_calibration import read_calibration as read_calibration, write_calibration as write_calibration
from .json_counts import read_counts as read_counts, write_counts as write_counts
from .json_files import (
    explain_mismatch as explain_mismatch,
    parse_object as parse_object,
    require_format as require_format,
    seal_json as seal_json,
)
from .network_files import read_network as read_network, write_network as write_network
from .network_formats.json_network import decode_network as decode_network, encode_network as encode_network
from .network_formats.uai import (
    names_file as names_file,
    read_evidence as read_evidence,
    write_evidence as write_evidence,
)
from .other_libraries import (
    from_networkx as from_networkx,
    from_pgmpy as from_pgmpy,
    from_pyagrum as from_pyagrum,
    to_networkx as to_networkx,
)
from .passthrough_columns import PlainColumns as PlainColumns
from .result_tables import write_long_form as write_long_form, write_result_table as write_result_table
from .sniff import FileKind as FileKind, guess_suffix as guess_suffix, sniff_kind as sniff_kind
from .special_files import describe_special as describe_special, open_input as open_input
from .stream_parts import StreamPart as StreamPart
