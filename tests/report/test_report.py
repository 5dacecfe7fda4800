"""The report: one page that needs nothing from outside, on narrow and wide screens, in dark mode and on paper."""

from __future__ import annotations

import html
import json
import re
import shlex
import shutil
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import possnet as pn
from possnet.executors import WorkerPool
from possnet.experiment import read_experiment
from possnet.plots import learning_curves, svg_text
from possnet.report.narrative import repeat_command, state_question
from possnet.report.verdicts import judge_rows, state_answer
from tests.browsing import contrast, luminance, watched
from tests.commands import COMMAND, run
from tests.work import die

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


def small(networks: Any = ("asia",), **options: Any) -> pn.Results:
    how: dict[str, Any] = {"rows": [40, 90], "imprecision": 1, "process": "traced", "repeats": 1, "rng": 1}
    return pn.evaluate(networks, **(how | options), workers=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "run"
    small(rows=[50, 400], imprecision=[0.5, 1], process=["alpha-cut", "traced"], repeats=2, out=path)
    pn.write_report(path, workers=1)
    return path


@pytest.fixture
def plain_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures whose PDF is empty, which spares half the time; `folder` and tests/plots have whole ones."""

    def save(figure: Any, stem: Path, title: str = "figure", *, prefix: str = "") -> str:
        text = svg_text(figure, title, prefix=prefix)
        (stem.parent / f"{stem.name}.svg").write_text(text, encoding="utf-8")
        (stem.parent / f"{stem.name}.pdf").touch()
        return text

    monkeypatch.setattr("possnet.report.report_files.save_figure", save)
    monkeypatch.setattr("possnet.report.report_files._WORTHWHILE", 1_000)  # workers would not know it


def files_of(folder: Path) -> dict[str, bytes]:
    """The page and the figures, by name."""
    return {file.name: file.read_bytes() for file in (folder / "report.html", *(folder / "figures").iterdir())}


def test_figures_are_the_same_whoever_draws_them(folder: Path) -> None:
    drawn = files_of(folder)
    done: list[tuple[int, int]] = []
    assert len(drawn) > 4 * 6  # enough to be shared
    shutil.rmtree(folder / "figures")
    with WorkerPool(2) as pool:
        pn.write_report(folder, workers=pool, progress=lambda *step: done.append(step))
        assert pool.has_started
    assert files_of(folder) == drawn
    assert done == [(k, done[-1][1]) for k in range(len(done))]


def test_figures_whose_workers_die_are_drawn_in_this_process(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = files_of(folder)
    shutil.rmtree(folder / "figures")
    monkeypatch.setattr("possnet.report.report_files._draw_in_worker", die)
    pn.write_report(folder, workers=2)
    assert files_of(folder) == drawn


def opened(
    browser: Browser, folder: Path, width: int, scheme: str = "light"
) -> AbstractContextManager[tuple[Page, list[str]]]:
    """The report in a window, and what it asked for."""
    window = {"viewport": {"width": width, "height": 900}, "color_scheme": scheme}
    return watched(browser, (folder / "report.html").as_uri(), **window)


@pytest.mark.needs("browser")
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [400, 1400])
def test_the_report_is_readable_and_asks_nobody(browser: Browser, folder: Path, width: int, scheme: str) -> None:
    with opened(browser, folder, width, scheme) as (page, asked):
        assert [url for url in asked if not url.startswith("data:")] == [(folder / "report.html").as_uri()]
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        colours = page.evaluate(
            "['h1', '.headline', '.scale', 'figcaption', 'td', 'dd', 'nav a'].map(s => getComputedStyle(document.querySelector(s)).color)"
        )
        paper = page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert (luminance(paper) < 0.1) == (scheme == "dark")
        assert all(contrast(colour, paper) >= 4.5 for colour in colours)
        smallest = page.evaluate(
            "Math.min(...[...document.querySelectorAll('svg text')].map(t => t.getBoundingClientRect().height).filter(Boolean))"
        )
        assert smallest >= 8
        cut = "[...document.querySelectorAll('figure svg')].filter(s => s.getBoundingClientRect().right > innerWidth).length"
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        assert page.evaluate(cut) == 0
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        inks = page.evaluate(
            "[...document.querySelectorAll('svg.plot text')].slice(0, 5).map(t => getComputedStyle(t).fill)"
        )
        assert all(contrast(ink, paper) >= 4.5 for ink in inks)


@pytest.mark.needs("browser")
def test_a_click_sorts_the_table(browser: Browser, folder: Path) -> None:
    with opened(browser, folder, 1400) as (page, _):
        page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true; })")
        values = "[...document.querySelectorAll('table.sortable tbody tr')].map(r => Number(r.cells[5].dataset.v))"
        before = page.evaluate(values)
        heading = page.get_by_role("button", name="information affinity", exact=True)
        heading.click()
        assert page.evaluate(values) == sorted(before)
        heading.press("Enter")
        assert page.evaluate(values) == sorted(before, reverse=True)
        names = "[...document.querySelectorAll('table.sortable tbody tr')].map(r => r.cells[0].textContent)"
        page.get_by_role("button", name="network", exact=True).click()
        assert page.evaluate(names) == sorted(page.evaluate(names))


@pytest.mark.needs("browser")
def test_the_report_prints_in_light_colours_whatever_the_screen(browser: Browser, folder: Path) -> None:
    with opened(browser, folder, 1400, "dark") as (page, _):
        page.emulate_media(media="print", color_scheme="dark")
        assert luminance(page.evaluate("getComputedStyle(document.body).backgroundColor")) > 0.9
        assert luminance(page.evaluate("getComputedStyle(document.querySelector('h1')).color")) < 0.1
        assert luminance(page.evaluate("getComputedStyle(document.querySelector('svg.possnet text')).fill")) < 0.1
        assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
        printed = page.pdf(format="A4")
        assert printed.startswith(b"%PDF")
        assert 1 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 5  # what is folded is not printed


def test_the_page_is_self_contained_and_small(folder: Path) -> None:
    text = (folder / "report.html").read_text(encoding="utf-8")
    assert len(text) < 2_000_000
    assert set(re.findall(r"https?://[\w.]+", text)) <= {"http://www.w3.org"}
    assert not re.search(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=[\"'](?!data:)", text)
    for section in (
        "Overview",
        "Bias and noise",
        "What the rows tell",
        "Where the errors are",
        "Networks",
        "Table",
        "Methods",
    ):
        assert f">{section}</h2>" in text
    experiment = read_experiment(folder)
    assert state_question(experiment) in text
    plain = html.unescape(re.sub(r"</?dfn[^>]*>", "", text))
    for verdict in judge_rows(experiment.results):
        parts = re.split(r"(?<=\.) ", verdict.headline)
        assert all(sentence in plain for sentence in (*parts, *verdict.sentences))
    assert repeat_command(experiment) in re.sub(r"</?span[^>]*>", "", html.unescape(text))
    for summary in experiment.results.summary("child_affinity"):
        assert f'data-v="{summary.mean:.6g}"' in text
    assert all(f"{name} {number}" in text for name, number in experiment.versions.items())


def test_every_figure_is_there_as_svg_and_pdf(folder: Path) -> None:
    stems = ["overview", *(f"{stem}-asia" for stem in ("split", "bounds", "variables", "contexts", "network"))]
    expected = {f"{stem}{width}.{suffix}" for stem in stems for width in ("", "-column") for suffix in ("svg", "pdf")}
    assert {file.name for file in (folder / "figures").iterdir()} == expected


def test_the_command_in_the_report_gives_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    words = repeat_command(read_experiment(folder)).split()
    assert words[0] == "possnet"
    done = subprocess.run([COMMAND, *words[1:]], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "Wrote again/report.html: the report" in done.stderr
    for file in [folder / "results.csv", folder / "report.html", *(folder / "figures").iterdir()]:
        assert (tmp_path / "again" / file.relative_to(folder)).read_bytes() == file.read_bytes(), file.name


@pytest.mark.usefixtures("plain_figures")
def test_a_report_of_what_was_just_run_reads_nothing_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    results = small(rows=20, learners="likelihood", out=tmp_path / "run")
    again = pn.write_report(tmp_path / "run").read_text(encoding="utf-8")
    monkeypatch.setattr("possnet.report.report_files.read_experiment", None)
    assert pn.write_report(results.experiment).read_text(encoding="utf-8") == again
    with pytest.raises(pn.InputError, match="kept in no folder"):
        _ = small(rows=20, learners="likelihood").experiment


def test_the_answer_tells_what_the_numbers_say(folder: Path) -> None:
    results = read_experiment(folder).results
    answers = dict(zip(("alpha-cut", "traced"), state_answer(results), strict=True))
    for process, answer in answers.items():
        last = [s for s in results.summary("child_affinity") if s.rows == 400 and s.process == process]
        learners = {s.learner for s in last}
        assert ("cut" in learners) == (process == "alpha-cut")
        means = {name: sum(s.mean for s in last if s.learner == name) / 2 for name in learners}
        best = max(means, key=means.__getitem__)
        assert answer.startswith(f"{'Alpha-cut' if process == 'alpha-cut' else 'Traced'} rows (400): ")
        assert f"{means[best]:.2f}" in answer
        assert f"{last[0].vacuous:.2f}" in answer
        assert ("earnable by these" in answer) == (means[best] <= last[0].vacuous + 0.005)
        limits = [s.limit for s in last if s.learner == "likelihood" and s.limit is not None]
        below = sum(limits) / len(limits) < last[0].vacuous and best != "likelihood"
        assert ("Not learnable by counting" in answer) == (below and max(means.values()) > last[0].vacuous + 0.005)
        errors = [s for s in results.summary("child_mean_error") if s.process == process and s.learner == best]
        before, after = (sum(s.mean for s in errors if s.rows == rows) / 2 for rows in (50, 400))
        change = "fell" if after < 0.95 * before else "grew" if after > 1.05 * before else "hardly changed"
        assert f"{change}, from {before:.3f} to {after:.3f}" in answer
        assert ("exactly (identified" in answer) == (process == "alpha-cut")


@pytest.mark.usefixtures("plain_figures")
def test_failed_runs_are_told(tmp_path: Path) -> None:
    path = tmp_path / "run"
    results = small(rows=50, out=path)
    for trial in results.trials:
        file = path / "trials" / f"{trial.key}.json"
        document = json.loads(file.read_text(encoding="utf-8"))
        del document["checksum"]  # a file without one is taken as it is
        file.write_text(
            json.dumps(document | {"metrics": {}, "error": "MemoryError: <no room>", "contexts": {}}), encoding="utf-8"
        )
    assert f"Wrote {path / 'report.html'}: the report" in run("report", path).stderr
    text = (path / "report.html").read_text(encoding="utf-8")
    assert "2 of 2 trials failed" in text
    assert "MemoryError: &lt;no room&gt;" in text
    assert "Every trial failed" in text


@pytest.mark.usefixtures("plain_figures")
def test_odd_names_are_shown_as_they_are(tmp_path: Path) -> None:
    a, b = pn.Variable("<a>&$x$", ("y$1$", '"no"')), pn.Variable("b_{2}", ("u", "v"))
    net = pn.Network((a, b), pn.Dag({a.name: (), b.name: (a.name,)}), {a.name: [1, 0.5], b.name: [[1, 0.2], [0.1, 1]]})
    small({"<i>odd": net}, rows=[20, 60], out=tmp_path / "run")
    text = pn.write_report(tmp_path / "run").read_text(encoding="utf-8")
    assert "<i>odd" not in text
    assert "<a>&$" not in text
    assert "&lt;a&gt;&amp;$x$ = y$1$" in text


def test_without_matplotlib_the_report_has_its_table_and_says_so(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("possnet.report.report_files.has_matplotlib", lambda: False)
    monkeypatch.setattr("possnet.report.report_pictures.has_matplotlib", lambda: False)
    monkeypatch.setattr("possnet.plots.figure_style.has_matplotlib", lambda: False)
    shutil.copytree(folder, tmp_path / "copy")
    with pytest.warns(pn.PossnetWarning, match=r"curves and heat maps need matplotlib: pip install 'possnet\[plot\]'"):
        text = pn.write_report(tmp_path / "copy").read_text(encoding="utf-8")
    assert "need matplotlib: pip install" in text
    told = run("report", tmp_path / "copy").stderr
    assert "Note: " in told
    assert "need matplotlib: pip install" in told
    assert "every figure" not in told
    assert 'class="possnet"' in text
    assert ">Table</h2>" in text
    with pytest.raises(pn.InputError, match="matplotlib is not installed"):
        pn.plots.learning_curves(read_experiment(folder).results)


def test_a_folder_that_is_no_finished_experiment_is_told(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(pn.InputError, match="no experiment there"):
        pn.write_report(tmp_path)
    shutil.copytree(folder, tmp_path / "copy")
    next((tmp_path / "copy" / "trials").iterdir()).unlink()
    with pytest.raises(pn.InputError, match="1 of 40 runs are not finished"):
        pn.write_report(tmp_path / "copy")
    (tmp_path / "copy" / "experiment.json").write_text(
        '{"format": "possnet-experiment", "version": 1}', encoding="utf-8"
    )
    with pytest.raises(pn.InputError, match="missing or of the wrong kind"):
        pn.write_report(tmp_path / "copy")
    run = subprocess.run([COMMAND, "report", tmp_path / "nowhere"], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "no experiment there" in run.stderr


@pytest.mark.usefixtures("plain_figures")
def test_learned_structures_are_shown_and_told(tmp_path: Path) -> None:
    small(rows=[100, 300], learners=["likelihood", "em"], learn=["given", "mwst:chi2"], rng=2, out=tmp_path / "run")
    text = pn.write_report(tmp_path / "run").read_text(encoding="utf-8")
    experiment = read_experiment(tmp_path / "run")
    assert {"likelihood", "likelihood@mwst:chi2", "em@mwst:chi2"} <= set(experiment.grid.learners)
    assert "--learn given,mwst:chi2" in repeat_command(experiment)
    assert "counting on a structure by mwst, chi2" in text
    (axes,) = learning_curves(experiment.results, "hamming").axes  # learners that share a structure share its curve
    assert sorted(axes.get_legend_handles_labels()[1]) == ["mwst, chi2", "the empty graph"]
    assert axes.get_ylabel() == "edges to mend"
    assert {"structure-asia.svg", "learned-asia.svg"} <= {
        file.name for file in (tmp_path / "run" / "figures").iterdir()
    }
    own = [s for s in experiment.results.summary("hamming") if s.rows == 300 and "@" in s.learner]
    assert (
        f"edges to mend: {own[0].mean:.1f} after mwst, chi2, 8.0 for the empty graph"
        in state_answer(experiment.results)[0]
    )
    assert "only in the true network" in text


def test_the_answer_is_true_for_every_kind_of_grid() -> None:
    (single,) = state_answer(small(rows=50, learners="likelihood"))
    assert single.startswith("Traced rows (50): ")
    assert "From " not in single  # nothing was varied
    (alike,) = state_answer(small(process="precise", learners=["likelihood", "likelihood-corrected"]))
    assert "counting and counting, corrected for imprecision alike" in alike
    results = small(process="alpha-cut", learners="likelihood", rows=[50, 200], repeats=3)
    first, last = (s.mean for s in results.summary("child_mean_error"))
    assert ("grew" in state_answer(results)[0]) == (last > 1.05 * first)
    thetas = state_answer(small(rows=60, imprecision=[0.2, 0.8], process=["precise", "traced"], learners="em"))
    assert "from imprecision 0.2 to 0.8 it " in thetas[-1]


def test_settings_in_which_a_learner_failed_are_left_out_and_counted() -> None:
    results = small(imprecision=[0.5, 1])
    outcomes = [
        o._replace(metrics={}, error="MemoryError: no", contexts={}) if (c.learner, c.imprecision) == ("em", 1) else o
        for c, o in zip(results.trials, results.outcomes, strict=True)
    ]
    partial = pn.Results(results.trials, tuple(outcomes))
    assert state_answer(partial)[-1] == "Left out: 1 setting with failed trials."
    (verdict,) = judge_rows(partial)
    shown = {s.learner: s.mean for s in results.summary("child_affinity") if s.rows == 90 and s.imprecision == 0.5}
    assert verdict.means == pytest.approx(shown)


@pytest.mark.usefixtures("plain_figures")
def test_networks_of_your_own_are_kept_for_doing_it_again(tmp_path: Path) -> None:
    net = pn.random_network(4, rng=3)
    odd = {"a/b c": net, "a b/c": pn.random_network(4, rng=4), "random ²": net, "x" * 300: net}
    small(odd, rows=20, imprecision=0.1234567, learners="likelihood", out=tmp_path / "run")
    pn.write_report(tmp_path / "run")
    words = shlex.split(repeat_command(read_experiment(tmp_path / "run")))
    files = [word for word in words if word.startswith("networks/")]
    assert files[:2] == ["networks/a_b_c.json", "networks/a_b_c-2.json"]
    assert [pn.read_network(tmp_path / "run" / file) for file in files] == list(odd.values())
    assert words[words.index("--imprecision") + 1] == "0.1234567"
    figures = {file.name for file in (tmp_path / "run" / "figures").iterdir()}
    assert len(figures) == 2 * 2 * (4 * 5 + 1)  # no name hides another


@pytest.mark.usefixtures("plain_figures")
def test_a_network_too_large_for_marginals_is_drawn_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small(rows=20, learners="likelihood", out=tmp_path / "run")

    def refuse(*_: Any, **__: Any) -> None:
        raise pn.TooLarge("too large")

    monkeypatch.setattr("possnet.report.report_pictures.draw_network", refuse)
    assert "no degrees: they would take too long" in pn.write_report(tmp_path / "run").read_text(encoding="utf-8")


def test_a_figure_that_cannot_be_written_is_an_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    small(rows=20, learners="likelihood", out=tmp_path / "run")

    def full(*_: Any, **__: Any) -> None:
        raise pn.InputError("figures/x.svg: no space left on device")

    monkeypatch.setattr("possnet.report.report_files.save_figure", full)
    with pytest.raises(pn.InputError, match="no space left"):
        pn.write_report(tmp_path / "run")
    assert not (tmp_path / "run" / "report.html").exists()


@pytest.mark.usefixtures("plain_figures")
def test_files_of_the_user_beside_figures_stay_and_old_figures_go(tmp_path: Path) -> None:
    small(rows=20, learners="likelihood", out=tmp_path / "run")
    (tmp_path / "run" / "figures").mkdir()
    for name in ("my-notes.txt", "mine.svg", "split-old.svg"):
        (tmp_path / "run" / "figures" / name).write_text("x", encoding="utf-8")
    pn.write_report(tmp_path / "run")
    left = {file.name for file in (tmp_path / "run" / "figures").iterdir()}
    assert {"my-notes.txt", "mine.svg"} <= left
    assert "split-old.svg" not in left


def test_a_folder_that_lost_its_networks_gets_them_back(tmp_path: Path) -> None:
    small(rows=20, learners="likelihood", out=tmp_path / "run")
    (tmp_path / "run" / "networks.json").unlink()
    versions = (tmp_path / "run" / "timings.json").read_bytes()
    small(rows=20, learners="likelihood", out=tmp_path / "run")
    assert read_experiment(tmp_path / "run").grid.networks["asia"] == pn.load_example("asia")
    assert (tmp_path / "run" / "timings.json").read_bytes() == versions
