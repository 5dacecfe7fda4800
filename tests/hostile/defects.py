"""Defects that a hostile run brought to light, each with the test that would have found it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Defect:
    """A class of defects: what was found, and the tests that hold it mended (``file::test``, below ``tests/``)."""

    label: str
    finding: str
    tests: tuple[str, ...] = ()


DEFECTS = [
    Defect(
        "D1",
        "one flipped bit in a Parquet file gave a column of no rows, and wrong tables without a word",
        (
            "io/test_hostile_files.py::test_a_column_shorter_than_the_file_says_is_refused",
            "io/test_hostile_files.py::test_row_groups_that_do_not_add_up_are_refused",
            "io/test_sealed_files.py::test_a_flipped_bit_is_refused_or_changes_nothing",
        ),
    ),
    Defect(
        "D2",
        "a file cut short while it was scanned ended the program (SIGBUS of a memory map)",
        (
            "io/test_sealed_files.py::test_a_parquet_file_that_changes_during_a_scan_is_refused",
            "io/test_sealed_files.py::test_a_csv_file_that_changes_during_a_scan_is_refused",
        ),
    ),
    Defect(
        "D3",
        "out of memory: tracebacks, aborts of Arrow, half of free memory asked for at once",
        (
            "limits/test_memory.py::test_every_library_s_shortage_is_one_sentence",
            "limits/test_memory.py::test_resource_limits_count_by_what_they_leave",
            "limits/test_memory.py::test_any_control_group_above_the_process_may_be_the_least",
            "limits/test_input_limits.py::test_a_command_with_too_little_memory_ends_with_a_sentence",
            "limits/test_input_limits.py::test_an_empty_gzipped_network_is_read_in_little_memory",
        ),
    ),
    Defect(
        "D4",
        "unbounded input: gzip bombs, devices, FIFOs, a million columns, cells of millions of characters",
        (
            "io/test_special_files.py::test_a_gzip_bomb_is_refused_piece_by_piece",
            "io/test_special_files.py::test_devices_sockets_and_folders_are_refused_by_every_reader",
            "io/test_special_files.py::test_a_pipe_that_nobody_writes_to_is_given_up",
            "limits/test_input_limits.py::test_columns_are_counted_before_they_are_read",
            "limits/test_input_limits.py::test_a_million_columns_are_refused_by_their_names_alone",
            "limits/test_input_limits.py::test_long_cells_and_lines_are_refused",
        ),
    ),
    Defect(
        "D5",
        "Ctrl-C lost while a large CSV file was read",
        (
            "hostile/test_faults.py::test_a_signal_that_python_drops_still_ends_the_program",
            "cli/test_manners.py::test_ctrl_c_ends_with_one_word_and_leaves_nothing_behind",
        ),
    ),
    Defect(
        "D6",
        "any local account could read and edit in the explorer",
        (
            "explorer/test_request_guard.py::test_without_the_token_there_is_nothing_to_see",
            "explorer/test_request_guard.py::test_the_printed_address_opens_the_page_and_leaves_a_cookie",
            "explorer/test_request_guard.py::test_tokens_are_compared_in_constant_time",
        ),
    ),
    Defect(
        "D7",
        "a damaged trial or a full disk: tracebacks after results were rewritten",
        (
            "experiment/test_experiment_folder.py::test_a_damaged_trial_is_run_again_and_said",
            "experiment/test_experiment_folder.py::test_a_damaged_description_is_a_sentence_and_nothing_is_written",
            "experiment/test_experiment_folder.py::test_a_full_disk_while_a_figure_is_written_is_one_sentence",
        ),
    ),
    Defect(
        "D8",
        "arguments of a wrong type ended in TypeError or AttributeError",
        (
            "hostile/test_argument_types.py::test_a_slice_of_wrong_arguments_ends_in_values_or_errors_of_possnet",
            "hostile/test_argument_types.py::test_every_public_callable_has_good_arguments",
        ),
    ),
    Defect(
        "D9",
        "messages of up to 2 MB",
        (
            "hostile/test_argument_types.py::test_a_message_is_short_and_keeps_its_remedy",
            "hostile/test_argument_types.py::test_names_and_states_of_any_length_give_short_messages",
        ),
    ),
    Defect(
        "D10",
        "names with escape sequences or newlines reached the terminal raw",
        (
            "hostile/test_printed_names.py::test_a_command_prints_names_escaped",
            "hostile/test_printed_names.py::test_drawings_and_notebooks_hold_no_mark_up_of_names_and_nothing_that_xml_forbids",
        ),
    ),
    Defect(
        "D11",
        "`.part` files were left behind; of two runs on one folder one died",
        (
            "hostile/test_faults.py::test_parts_of_dead_processes_are_removed_and_those_of_living_ones_are_not",
            "experiment/test_experiment_folder.py::test_of_runs_started_together_one_works_and_the_others_are_told",
            "experiment/test_experiment_folder.py::test_the_lock_of_a_killed_process_locks_nobody_out",
        ),
    ),
    Defect(
        "R1",
        "a UAI file of twenty bytes that announces a million states took seconds",
        ("hostile/test_readers.py::test_seeds_and_the_corpus_are_read_or_refused",),
    ),
    Defect(
        "R2",
        "a damaged footer of another program's Parquet file ended the program: Arrow aborts when it is asked for a column chunk",
        ("io/test_hostile_files.py::test_a_footer_whose_parts_arrow_may_not_be_asked_for_is_refused",),
    ),
    Defect(
        "R3",
        "arrays of other libraries whose bitmaps, views or maps contradict themselves were read",
        ("io/test_hostile_files.py::test_arrays_of_other_libraries_are_checked_before_they_are_read",),
    ),
    Defect(
        "R4",
        "parameters that functions check themselves let vast numbers, endless nesting and arrays of no dimension through to "
        "TypeError, ValueError, RecursionError (327 of 111,352 calls)",
        ("hostile/test_argument_types.py::test_parameters_that_functions_check_themselves_are_no_weaker_doors",),
    ),
    Defect(
        "R5",
        "with 130 to 220 MB of address space OpenBLAS ended the program without a sentence, and scikit-learn hung",
        (
            "limits/test_input_limits.py::test_a_command_with_too_little_memory_ends_with_a_sentence",
            "limits/test_memory.py::test_a_file_whose_buffer_cannot_be_had_is_given_up",
            "limits/test_memory.py::test_a_shortage_is_described_where_not_even_free_memory_can_be_read",
        ),
    ),
    Defect(
        "R6",
        "a table that numpy only repeats (2^31 cells) was a plain MemoryError",
        (
            "limits/test_memory.py::test_tables_that_numpy_only_repeats_are_refused_before_they_are_copied",
            "limits/test_memory.py::test_a_public_function_that_runs_out_of_memory_raises_one_sentence",
        ),
    ),
    Defect(
        "R7",
        "a writer of a UAI network that was cut off between its two files left names of another network beside it",
        ("io/test_uai.py::test_names_and_network_of_two_writings_are_not_taken_for_each_other",),
    ),
    Defect(
        "R8",
        "a report whose `timings.json` could not be read left the versions out without a word",
        (
            "experiment/test_experiment_folder.py::test_versions_that_cannot_be_read_are_not_left_out_in_silence",
            "experiment/test_experiment_folder.py::test_damaged_versions_are_said_and_cost_no_number",
        ),
    ),
    Defect(
        "R9",
        "a result with bars, written to a file under a Latin-1 locale (as on Windows), ended in a traceback",
        (
            "cli/test_plain_letters.py::test_bars_and_names_are_written_in_the_letters_that_there_are",
            "cli/test_plain_letters.py::test_json_is_the_same_document_in_every_encoding",
        ),
    ),
    Defect(
        "R10",
        "a column of weights that holds lists was refused without the name of its file (6 of 100,000 Parquet files)",
        ("io/test_hostile_files.py::test_weights_of_an_unusable_type_are_refused_with_the_name_of_the_file",),
    ),
]
