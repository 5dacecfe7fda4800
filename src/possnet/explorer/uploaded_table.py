"""The table of an explorer: the file as it was uploaded, the rows as they were read, and the job that works on them."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from possnet.errors import InputError
from possnet.explorer.background_job import NETWORK, ROWS, Job, JobLimits
from possnet.io import DATA_FORMATS, choose_format, decode_network, read_data

if TYPE_CHECKING:
    from possnet.dataset import Dataset
    from possnet.network import Network

_LONGEST_NAME: Final = 80


class DataDesk:
    """One table and one job at a time, in a folder that goes with the explorer.

    Attributes
    ----------
    name
        What the page calls the table; None before there is one.
    page
        What is known of its columns; None until it was read.
    job
        The job that runs or ran last.
    """

    def __init__(self) -> None:
        self._folder: Path | None = None
        self._upload: Path | None = None
        self._rows: Path | None = None
        self._data: Dataset | None = None
        self._learned: dict[int, Path] = {}
        self._collected = 0
        self.name: str | None = None
        self.page: dict[str, Any] | None = None
        self.job: Job | None = None

    @property
    def folder(self) -> Path:
        """A folder that only this account can read."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="possnet-explore-"))
        return self._folder

    def prepare_upload(self, name: str) -> Path:
        """Where the bytes of a table of this name go; an `InputError` for a format that no reader knows."""
        choose_format(name, DATA_FORMATS)
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix="upload-"))
        return folder / safe_name(name)

    def open_upload(self, name: str, file: Path) -> Job:
        """Read a table that has been uploaded; the one before is forgotten."""
        self.close_table()
        self.name, self._upload = name, file
        return self.start("read", {"file": file.name}, [file])

    def read_again(self, request: dict[str, Any]) -> Job:
        """Read the uploaded table with other columns or bins."""
        if self._upload is None:
            raise InputError("table: none was opened; drop a file with rows first")
        return self.start("read", {"file": self._upload.name, **request}, [self._upload])

    def start_on_rows(self, task: str, request: dict[str, Any], seconds: float) -> Job:
        """Start a job on the rows as they were read."""
        return self.start(task, {**request, "rows": ROWS}, [self._require_rows()], seconds)

    def start(self, task: str, request: dict[str, Any], files: list[Path], seconds: float = 300.0) -> Job:
        """Start a job in a folder with some files; one that runs is stopped."""
        self.stop_job()
        folder = Path(tempfile.mkdtemp(dir=self.folder, prefix=f"{task}-"))
        for file in files:
            name = ROWS if file == self._rows else file.name
            try:
                os.link(file, folder / name)
            except OSError:  # a file system without links
                shutil.copyfile(file, folder / name)
        self.job = Job(task, request, folder, JobLimits.within_free_memory(seconds))
        return self.job

    def stop_job(self) -> None:
        """Stop the job, if one runs, and forget what it has written."""
        self.collect()
        job = self.job
        if job is None:
            return
        job.stop()
        if job.number not in self._learned:
            shutil.rmtree(job.folder, ignore_errors=True)

    def collect(self) -> None:
        """Take over what a job that is done has left, once."""
        job = self.job
        if job is None or job.state == "running" or job.number == self._collected:
            return
        self._collected = job.number
        if job.state == "done" and job.task == "read":
            before, self._rows = self._rows, Path(tempfile.mkdtemp(dir=self.folder, prefix="rows-")) / ROWS
            (job.folder / ROWS).replace(self._rows)
            self._data, self.page = None, job.result
            if before is not None:
                shutil.rmtree(before.parent, ignore_errors=True)
        elif job.state == "done" and job.task == "learn":
            self._learned = {job.number: job.folder / NETWORK}

    def take_network(self, number: int) -> Network:
        """The network that a job has learned."""
        self.collect()
        if number not in self._learned:
            raise InputError(f"learn: job {number} has no network to give; expected the last one, once it is done")
        return decode_network(self._learned[number].read_bytes(), "learned network")

    @property
    def data(self) -> Dataset:
        """The rows as they were read."""
        rows = self._require_rows()
        if self._data is None:
            self._data = read_data(rows)
        return self._data

    def _require_rows(self) -> Path:
        self.collect()
        if self._rows is None:
            raise InputError("table: no rows have been read; drop a file with rows first, and wait until it is read")
        return self._rows

    def close_table(self) -> None:
        """Forget the table, and stop what works on it."""
        self.stop_job()
        for file in (self._upload, self._rows):
            if file is not None:
                shutil.rmtree(file.parent, ignore_errors=True)
        self.name = self.page = self._upload = self._rows = self._data = None

    def close(self) -> None:
        """Stop the job and remove every file."""
        self.stop_job()
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def describe(self) -> dict[str, Any]:
        """The table and the job, for the page."""
        self.collect()
        job = None if self.job is None else self.job.describe()
        if job is not None and job["task"] == "read":
            job["result"] = None  # it stands in the table
        return {"table": None if self.name is None else {"name": self.name, "page": self.page}, "job": job}


def safe_name(name: str) -> str:
    r"""The name of an uploaded file as that of a file on disk: its last part, with plain signs.

    >>> safe_name("../../etc/<b>rows</b>.csv"), safe_name("C:\\data\\Größe 1.csv.gz"), safe_name("..")
    ('b_.csv', 'Größe_1.csv.gz', 'table')
    """
    last = re.split(r"[/\\]", name)[-1]
    return re.sub(r"[^\w.-]+", "_", last).strip("._-")[-_LONGEST_NAME:] or "table"
