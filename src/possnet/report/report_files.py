"""The report of an experiment in its folder: the page, and its figures for papers."""

from __future__ import annotations

import gc
import pickle
from concurrent.futures import BrokenExecutor
from contextlib import closing, contextmanager, nullcontext
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from possnet.doors import check_arguments
from possnet.drawing import Drawing
from possnet.errors import count_noun, require_whole, warn_user
from possnet.executors import WorkerPool, completed
from possnet.experiment import Experiment, read_experiment
from possnet.io import encode_network, file_error, lock_folder, make_folder, remove_file, write_text
from possnet.plots import NothingToShow, drawing_figure, has_matplotlib, load_drawing, save_figure
from possnet.report.html_page import ReportPicture, build_page
from possnet.report.narrative import file_names, network_files
from possnet.report.report_pictures import PREFIXES, SECTIONS, choose_networks, order_pictures
from possnet.report.verdicts import join_words

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator
    from pathlib import Path

    from possnet.aliases import Progress
    from possnet.network import Network
    from possnet.plots import Columns
    from possnet.report.report_pictures import PicturePlan

_MOST_BYTES: Final = 1_900_000
_ENDINGS: Final = (".svg", ".pdf", "-column.svg", "-column.pdf")
_PATIENCE: Final = 10.0  # seconds, for another run in the same folder that writes its report
_WORTHWHILE: Final = 6  # pictures: workers take as long to start as three of them to draw
_NO_MATPLOTLIB: Final = (
    "Curves and heat maps need matplotlib: pip install 'possnet[plot]', then run possnet report again."
)


@check_arguments
def write_report(
    experiment: Experiment | str | Path,
    *,
    workers: int | WorkerPool | None = None,
    progress: Progress | None = None,
) -> Path:
    """Write ``report.html`` and ``figures/`` into the folder of a finished experiment; gives the name of the page.

    The page is self-contained: a verdict for each kind of rows with a number line, an overview of all networks, learned
    structures over the true ones, and, folded, learning curves, the split of the error into bias and noise, the bounds of
    one learned network if a learner gives any, heat maps, the networks, a table to sort and filter, methods, and the
    command that does it again. Figures are in ``figures/`` for two columns of a paper and, ``-column``, for one, with text
    of 8 pt. They need matplotlib (``possnet[plot]``); without it the page has the verdicts, the drawings and the table
    alone, and says so, as does a warning. Of many networks, those that are the hardest to learn are shown in detail, and
    the page says which are left out.

    Parameters
    ----------
    experiment
        The folder of an experiment, or, without reading it again, the ``experiment`` of what `possnet.evaluate` gave.
    workers
        How many processes share the drawing of figures (by default one for each core), or a
        `possnet.executors.WorkerPool`. The files are the same, whatever their number.
    progress
        Called with the figures done and the figures in all.

    Examples
    --------
    >>> import possnet as pn, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     how = {"rows": 50, "imprecision": 1, "learners": "likelihood", "repeats": 1, "rng": 1}
    ...     file = write_report(pn.evaluate(["asia"], **how, out=folder).experiment)
    ...     file.name, sorted(file.name for file in (file.parent / "figures").glob("overview*"))
    ('report.html', ['overview-column.pdf', 'overview-column.svg', 'overview.pdf', 'overview.svg'])
    """
    if not isinstance(experiment, Experiment):
        experiment = read_experiment(experiment)
    if isinstance(workers, int):
        require_whole(workers, 1, "write_report: workers")
    pool = workers if isinstance(workers, WorkerPool) else WorkerPool(workers)
    with lock_folder(experiment.folder, patience=_PATIENCE), nullcontext() if pool is workers else pool:
        return _write_files(experiment, pool, progress or (lambda _done, _total: None))


def _write_files(experiment: Experiment, pool: WorkerPool, progress: Progress) -> Path:
    """Write figures and networks, then the page that shows them; only then remove the figures of an earlier report."""
    folder = experiment.folder
    _write_networks(folder, experiment.grid.networks)
    earlier = _list_figures(folder)
    notes = [] if has_matplotlib() else [_NO_MATPLOTLIB]
    for note in notes:
        warn_user(f"{folder}: {note[0].lower()}{note[1:].removesuffix('.')}")
    shown, left_out = choose_networks(experiment)
    plans = order_pictures(experiment, shown)
    stems = file_names(plan.stem for plan in plans)
    tasks = [_PictureTask(number, folder / "figures" / stem) for number, stem in enumerate(stems)]
    pictures: list[ReportPicture] = []
    room = _MOST_BYTES - len(build_page(experiment, [], notes, left_out))
    too_many: list[str] = []
    drawn = _draw_pictures(experiment, plans, tasks, pool, progress)
    for _, picture in sorted(drawn.items()):
        size = len(picture.picture) + len(picture.narrow) + 3 * len(picture.caption + picture.message) + 1_000
        if size > room:
            too_many.append(picture.stem)
            continue
        room -= size
        pictures.append(picture)
    if too_many:
        what = f"{count_noun(len(too_many), 'figure')} {'is' if len(too_many) == 1 else 'are'}"
        left_out = f"{left_out} To keep this page small, {what} in figures/ alone: {join_words(too_many)}.".lstrip()
    pictures.sort(key=lambda picture: SECTIONS.index(picture.section))
    write_text(folder / "report.html", build_page(experiment, pictures, notes, left_out))
    kept = {f"{picture.stem}{ending}" for picture in drawn.values() for ending in _ENDINGS if has_matplotlib()}
    for name in earlier - kept:
        remove_file(folder / "figures" / name)
    return folder / "report.html"


class _PictureTask(NamedTuple):
    """A picture of a report: its number, and the files that it goes to, without their endings."""

    number: int
    stem: Path


def _draw_pictures(
    experiment: Experiment, plans: list[PicturePlan], tasks: list[_PictureTask], pool: WorkerPool, progress: Progress
) -> dict[int, ReportPicture]:
    """Write every picture that has something to show; gives them by number.

    In this process if they are few, or if other processes could not draw them: entries registered at run time.
    """
    drawn: dict[int, ReportPicture] = {}
    progress(0, len(tasks))
    with closing(_run_tasks(experiment, plans, tasks, pool)) as running:
        for done, (number, picture) in enumerate(running, start=1):
            if picture is not None:
                drawn[number] = picture
            progress(done, len(tasks))
    return drawn


def _run_tasks(
    experiment: Experiment, plans: list[PicturePlan], tasks: list[_PictureTask], pool: WorkerPool
) -> Generator[tuple[int, ReportPicture | None]]:
    """Numbers of pictures and the pictures, as they are done; None for one that has nothing to show."""
    if pool.count == 1 or len(plans) < _WORTHWHILE or not has_matplotlib() or not experiment.grid.suits_workers:
        yield from ((task.number, _draw_task(plans, task)) for task in tasks)
        return
    sent = pickle.dumps(experiment)
    for place, result in completed(partial(_draw_in_worker, sent), tasks, pool):
        task = tasks[place]
        if isinstance(result, BrokenExecutor):  # its workers died: the last try is here
            yield task.number, _draw_task(plans, task)
        elif isinstance(result, BaseException):
            raise result
        else:
            yield task.number, result


def _draw_in_worker(experiment: bytes, task: _PictureTask) -> ReportPicture | None:
    return _draw_task(_list_plans(experiment), task)


@lru_cache(maxsize=1)
def _list_plans(experiment: bytes) -> list[PicturePlan]:
    """The pictures of an experiment, listed once in every worker."""
    received: Experiment = pickle.loads(experiment)  # noqa: S301 - from the process that this one works for
    return order_pictures(received, choose_networks(received)[0])


def _draw_task(plans: list[PicturePlan], task: _PictureTask) -> ReportPicture | None:
    try:
        return save_picture(plans[task.number], task.stem, f"f{task.number}")
    except NothingToShow:
        return None


def prepare_drawing() -> None:
    """Load what figures need, if they can be drawn: for a process that will draw, ahead of the first.

    >>> prepare_drawing()
    """
    if has_matplotlib():
        with _without_collection():
            load_drawing()


@contextmanager
def _without_collection() -> Iterator[None]:
    """Look for no garbage meanwhile: a figure is many small parts that refer to each other, none of which can go yet."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def _list_figures(folder: Path) -> set[str]:
    """Names of the figures of an earlier report, in the folder of figures, which is made if it is not there."""
    make_folder(folder / "figures")
    try:
        names = {file.name for file in (folder / "figures").iterdir() if file.suffix in {".svg", ".pdf"}}
    except OSError as error:
        raise file_error(folder, error) from None
    return {name for name in names if name.startswith(PREFIXES)}


def _write_networks(folder: Path, networks: dict[str, Network]) -> None:
    """Networks that have no name of their own, in a folder beside the page."""
    files = network_files(networks)
    if files:
        make_folder(folder / "networks")
    for name, file in files.items():
        write_text(folder / "networks" / file, encode_network(networks[name]))


def save_picture(plan: PicturePlan, stem: Path, prefix: str) -> ReportPicture:
    """Write the wide and the narrow form of a picture beside the page; gives both for the page."""
    forms, captions = [], []
    files: tuple[tuple[Columns, str, str], ...] = ((2, stem.name, prefix), (1, f"{stem.name}-column", f"{prefix}n"))
    for columns, name, own in files:
        with _without_collection():
            picture = plan.draw(columns)
            forms.append(_save_form(picture, stem.parent / name, plan.message, own))
        is_bare = isinstance(picture, Drawing) and plan.bare and not picture.scene.shows_degrees
        captions.append(plan.bare if is_bare else plan.caption)
    return ReportPicture(plan.section, forms[0], captions[0], stem.name, forms[1], plan.message, captions[1])


def _save_form(picture: Any, stem: Path, message: str, prefix: str) -> str:
    if not isinstance(picture, Drawing):
        return save_figure(picture, stem, message, prefix=prefix)
    if has_matplotlib():
        save_figure(drawing_figure(picture), stem)
    return picture.replace("tip-", f"{prefix}-tip-")  # names that no other drawing on the page has
