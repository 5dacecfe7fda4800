"""``--bin`` and ``--bin-error``: one column, several, or all that hold numbers; what was chosen is told in one line each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import possnet as pn
from tests.commands import run


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Ages and hours (numbers), a grade of few numbers, a name, and an income that age tells."""
    rng = np.random.default_rng(1)
    lines = ["age,hours,grade,name,income"]
    for age in range(20, 80):
        income = "high" if age >= 50 else "low"
        lines.append(f"{age},{rng.integers(0, 60)},{age % 4},n{age % 7},{income if age % 6 else 'low|high'}")
    path = tmp_path / "rows.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def learned_bins(*options: object, rows: Path) -> tuple[dict[str, pn.Bins], str]:
    out = rows.with_name("net.json")
    result = run("learn", rows, *options, "--out", out)
    assert result.returncode == 0, result.stderr
    bins = {v.name: v.bins for v in pn.read_network(out).variables if v.bins is not None}
    return bins, result.stderr


def test_a_column_alone_is_cut_at_quantiles_and_that_is_told(rows: Path) -> None:
    bins, notes = learned_bins("--bin", "age", rows=rows)
    expected = pn.bin_measurements(range(20, 80), edges="quantile").edges
    assert {name: found.edges for name, found in bins.items()} == {"age": expected}
    assert f"Note: age: {len(bins['age'])} bins by quantile at " in notes


def test_several_columns_at_once(rows: Path) -> None:
    bins, notes = learned_bins("--bin", "age, hours: edges=width bins=4 unit=u", rows=rows)
    assert {name: (len(found), found.unit) for name, found in bins.items()} == {"age": (4, "u"), "hours": (4, "u")}
    assert "Note: age: 4 bins by width at 34.8, 49.5, 64.2 u" in notes


def test_a_star_stands_for_all_columns_of_numbers_and_no_others(rows: Path) -> None:
    bins, notes = learned_bins("--bin", "*", rows=rows)
    assert set(bins) == {"age", "hours"}
    assert "Note: 2 columns of numbers binned: age, hours" in notes
    bins, notes = learned_bins("--bin", "*", "--bin", "age: edges=50", rows=rows)
    assert bins["age"] == pn.Bins((50,))
    assert "Note: 1 column of numbers binned: hours" in notes
    assert "Note: age:" not in notes


def test_edges_by_mdl_tell_the_target_apart_and_say_where_nothing_pays(rows: Path) -> None:
    bins, notes = learned_bins("--bin", "*: edges=mdl target=income", rows=rows)
    assert bins["age"].edges == (49.5,)
    assert "Note: age: 2 bins by mdl at 49.5" in notes
    assert "column 'hours': no edge tells the states of 'income' apart, by mdl" in notes
    assert "Note: hours: 3 bins by quantile at " in notes
    assert learned_bins("--bin", "age: target=income", rows=rows)[0]["age"].edges == (49.5,)


@pytest.mark.parametrize(
    ("error", "cells"),
    [
        ("2", {"48": {"<50", ">=50"}, "51": {"<50", ">=50"}, "47": {"<50"}, "52": {">=50"}}),
        ("10%", {"46": {"<50", ">=50"}, "44": {"<50"}}),
    ],
)
def test_a_common_error_widens_all_binned_columns(rows: Path, error: str, cells: dict[str, set[str]]) -> None:
    out = rows.with_name("out.parquet")
    result = run(
        "convert", rows, out, "--bin", "age: edges=50", "--bin", "hours: edges=30 error=0.5", "--bin-error", error
    )
    assert result.returncode == 0, result.stderr
    data = pn.read_data(out)
    for age, states in cells.items():
        assert data.row(int(age) - 20)["age"] == states
    own = pn.read_data(rows, binnings={"hours": pn.Binning([30], error=0.5)})
    assert [data.row(k)["hours"] for k in range(60)] == [own.row(k)["hours"] for k in range(60)]


def test_a_network_that_remembers_its_bins_takes_the_error_too_and_no_other_edges(rows: Path) -> None:
    learned_bins("--bin", "age: edges=50", "--bin", "hours: edges=30", rows=rows)
    net, out = rows.with_name("net.json"), rows.with_name("out.csv")
    for options in (["--bin-error", "2"], ["--bin", "age", "--bin-error", "2"], ["--bin", "*", "--bin-error", "2"]):
        result = run(
            "complete", net, rows, "--as", "narrowed", "--threshold", "0.001", "--out", out, "--json", *options
        )
        assert result.returncode == 0, result.stderr
        assert json.loads(result.stdout)["variables"]["age"]["ambiguous"] == 4  # 48, 49, 50, 51
        assert "Note: age: " not in result.stderr


def test_a_column_whose_name_has_a_comma_is_still_one_column(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text('"x,y",z\n1,a\n7,b\n', encoding="utf-8")
    result = run("convert", tmp_path / "a.csv", tmp_path / "b.parquet", "--bin", "x,y: edges=5")
    assert result.returncode == 0, result.stderr
    assert pn.read_data(tmp_path / "b.parquet").variables[0].bins == pn.Bins((5,))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--bin", "age: edges=40,20"], "edges 40, 20; expected at least 1, finite and increasing"),
        (["--bin", "ages"], "no column 'ages' to bin"),
        (["--bin", "age,hours", "--bin", "age: edges=3"], "--bin: 'age' is given twice; expected once"),
        (["--bin", "age: edges=mdl"], "edges by mdl tell the states of a target apart; expected target="),
        (["--bin", "age: edges=mdl target=incme"], "no target 'incme' to bin 'age' by"),
        (["--bin", "age: edges=mdl target=age"], "no target 'age' to bin 'age' by"),
        (["--bin", "age", "--bin-error", "-1"], "--bin-error '-1'; expected a number from 0 on, or a share such as 5%"),
        (["--bin", "age", "--bin-error", "x%"], "--bin-error 'x%'; expected a number from 0 on"),
        (["--bin", "name"], "row 1, column 'name': 'n6' is not a reading; expected a number"),
    ],
)
def test_bad_bins_are_refused_with_a_sentence(rows: Path, options: list[str], message: str) -> None:
    result = run("learn", rows, *options, "--out", rows.with_name("net.json"))
    assert result.returncode == 1
    assert message in result.stderr
    assert not rows.with_name("net.json").exists()


def test_two_units_and_other_edges_than_the_network_s_are_refused(rows: Path) -> None:
    learned_bins("--bin", "age: edges=50 unit=years", "--without", "hours", rows=rows)
    net = rows.with_name("net.json")
    for spec, message in {
        "age: edges=50 unit=months": "'age' has bins with edges 50 years and with edges 50 months; expected one unit",
        "age: unit=months": "'age' has bins with edges 50 years and with edges 50 months; expected one unit",
        "age: edges=60 labels=<50,>=50": "'age' has bins with edges 50 years and with edges 60; expected the same edges",
    }.items():
        result = run("score", net, rows, "--bin", spec)
        assert result.returncode == 1, spec
        assert message in result.stderr, spec


def test_no_column_of_numbers_is_said(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y\na,1\nb,2\n", encoding="utf-8")
    result = run("info", tmp_path / "a.csv", "--bin", "*")
    assert result.returncode in {1, 2}
    result = run("learn", tmp_path / "a.csv", "--bin", "*")
    assert result.returncode == 1
    assert "no column of numbers to bin; expected one whose cells are all readings" in result.stderr


def test_columns_left_out_by_a_pattern_are_neither_binned_nor_noted(tmp_path: Path) -> None:
    """``--without '*_true'``: nothing is said of those columns, and a pattern that no column has is refused."""
    table = tmp_path / "rows.csv"
    rng = np.random.default_rng(1)
    rows = [f"{x:.2f},{y:.2f},{x:.2f},{'b' if x > 0.5 else 'a'}" for x, y in rng.random((60, 2))]
    table.write_text("\n".join(["size,weight,size_true,kind", *rows]), encoding="utf-8")
    learned = run("learn", table, "--bin", "*", "--without", "*_true", "--out", tmp_path / "net.json")
    assert learned.returncode == 0
    assert "2 columns of numbers binned: size, weight\n" in learned.stderr
    assert "size_true" not in learned.stderr + learned.stdout
    assert {v.name for v in pn.read_network(tmp_path / "net.json").variables} == {"size", "weight", "kind"}
    refused = run("learn", table, "--without", "*_treu")
    assert (refused.returncode, refused.stderr.count("\n")) == (1, 1)
    assert "--without *_treu: no such column" in refused.stderr


def test_grades_stay_states_where_there_are_rows_for_them(tmp_path: Path) -> None:
    """Sixteen whole numbers are binned in a small file and states in a large one; so are ranges of them, but not intervals."""
    rng = np.random.default_rng(2)

    def binned(rows: int, write: Callable[[int], str], **how: Any) -> bool:
        lines = [f"{write(int(x))};{x % 2}" for x in rng.integers(1, 17, rows)]
        table = tmp_path / "grades.csv"
        table.write_text("\n".join(["grade;odd", *lines]), encoding="utf-8")
        try:
            data = pn.read_data(table, binnings={"*": pn.Binning()}, **how)
        except pn.InputError as error:
            assert "no column of numbers to bin" in str(error)
            return False
        return data.variable("grade").bins is not None

    assert binned(9_000, str)
    assert not binned(11_000, str)
    assert binned(11_000, lambda x: f"{x + 0.5}")
    assert not binned(11_000, lambda x: f"{x},{x + 1}" if x % 3 else str(x), cells={"grade": "range"})
    assert binned(11_000, lambda x: f"{x}..{x + 1}" if x % 3 else str(x))


def test_few_numbers_with_fractions_are_binned_with_all_others_and_shown_by_info(tmp_path: Path) -> None:
    """A column of zeros and two fractions, stored as numbers, cannot be states: ``*`` bins it, and info shows it anyway."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table, rng = tmp_path / "rows.parquet", np.random.default_rng(4)
    rare = np.zeros(100)
    rare[[3, 7]] = 0.25, 0.5
    columns = {"size": rng.random(100), "rare": rare, "kind": rng.choice(["a", "b"], 100)}
    pq.write_table(pa.table(columns), table)
    shown = run("info", table)
    assert shown.returncode == 0
    assert "numbers with fractions, in bins so that they can be shown: size, rare; other commands need --bin '*'" in (
        " ".join(shown.stderr.split())
    )
    refused = run("learn", table, "--bin", "size", "--out", tmp_path / "net.json")
    assert refused.returncode == 1
    assert "column 'rare': numbers with fractions; expected states. Bin measurements into states: " in refused.stderr
    assert "(--bin rare); where files are read also '*', for all columns of numbers" in refused.stderr
    learned = run("learn", table, "--bin", "*", "--out", tmp_path / "net.json")
    assert learned.returncode == 0
    assert pn.read_network(tmp_path / "net.json").variable("rare").states == ("<0.25", ">=0.25")


def test_a_completed_csv_file_has_the_numbers_that_the_table_had(tmp_path: Path) -> None:
    """Bins stand only where a cell was ambiguous and has been completed."""
    lines = [f"{k / 4},{20 + k},{'yes' if k > 20 else 'no'}" for k in range(40)]
    table, learned = tmp_path / "dogs.csv", tmp_path / "net.json"
    table.write_text(
        "\n".join(["f0,age,label", *lines, "9.75,?,no|yes", "0.25,21±30,?", "?,22,no"]) + "\n", encoding="utf-8"
    )
    bins = ["--bin", "f0: edges=3,6", "--bin", "age: edges=30,40,50"]
    assert run("learn", table, *bins, "--method", "mwst", "--measure", "chi2", "--out", learned).returncode == 0
    done = run("complete", learned, table, "--out", tmp_path / "done.csv")
    assert done.returncode == 0, done.stderr
    written = (tmp_path / "done.csv").read_text(encoding="utf-8").splitlines()
    assert written[: len(lines) + 1] == ["f0,age,label", *lines]
    first, second, third = (line.split(",") for line in written[len(lines) + 1 :])
    assert (first[0], first[2]) == ("9.75", "yes")
    assert second[0] == "0.25"
    assert third[1] == "22"
    states = {variable.name: variable.states for variable in pn.read_network(learned).variables}
    assert first[1] in states["age"]
    assert third[0] in states["f0"]
    assert set(second[1].split("|")) <= set(states["age"])
    again = run(
        "complete", learned, tmp_path / "done.csv", "--out", "-"
    )  # numbers and bins side by side are read as such
    assert again.stdout.splitlines() == written


@pytest.mark.parametrize("form", [("--as", "narrowed"), ("--target", "label", "--hide")])
def test_numbers_stand_in_every_form_of_whole_rows_but_not_where_they_were_hidden(
    tmp_path: Path, form: tuple[str, ...]
) -> None:
    table = tmp_path / "t.csv"
    table.write_text("x,label\n" + "".join(f"{k}.5,{'b' if k > 9 else 'a'}\n" for k in range(20)), encoding="utf-8")
    learned = tmp_path / "n.json"
    assert (
        run(
            "learn", table, "--bin", "x: edges=5,10", "--method", "mwst", "--measure", "chi2", "--out", learned
        ).returncode
        == 0
    )
    run("complete", learned, table, *form, "--out", tmp_path / "o.csv")
    written = [line.split(",")[0] for line in (tmp_path / "o.csv").read_text(encoding="utf-8").splitlines()[1:]]
    assert written == [f"{k}.5" for k in range(20)]
    run("complete", learned, table, "--target", "x", "--hide", "--out", tmp_path / "h.csv")
    hidden = {line.split(",")[0] for line in (tmp_path / "h.csv").read_text(encoding="utf-8").splitlines()[1:]}
    assert not hidden & set(written)
    refused = run("complete", learned, table, "--keep", "x", "--out", tmp_path / "o.parquet")
    assert "--keep x: a variable of the network, whose bins" in refused.stderr
    assert "expected a .csv file, which has the numbers" in refused.stderr
    assert "which is kept anyway" in run("complete", learned, table, "--keep", "x", "--out", "-").stderr


def test_bins_that_are_called_by_numbers_are_written_as_bins(tmp_path: Path) -> None:
    """A number beside such a name could not be told from it."""
    table = tmp_path / "t.csv"
    table.write_text("x,label\n" + "".join(f"{k}.5,{'b' if k > 9 else 'a'}\n" for k in range(20)), encoding="utf-8")
    learned, how = tmp_path / "n.json", ["--bin", "x: edges=5,10 labels=1,2,3", "--method", "mwst", "--measure", "chi2"]
    assert run("learn", table, *how, "--out", learned).returncode == 0
    done = run("complete", learned, table, "--out", "-").stdout.splitlines()
    assert {line.split(",")[0] for line in done[1:]} == {"1", "2", "3"}
