"""Examples of docstrings are seen by those who render them: sections are numpy's, and examples have a heading of their own."""

from __future__ import annotations

import ast
import inspect
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest

import possnet as pn
import possnet.classifier
import possnet.scaleout
from tests.paths import ROOT

SECTIONS = r"(Attributes|Notes|Parameters|Raises|References|Returns|See Also|Warns|Yields)"
RENDER = """
import inspect, sys
from collections import Counter
from docutils import nodes
from docutils.core import publish_doctree
from sphinx.ext.napoleon import Config, NumpyDocstring
import possnet as pn, possnet.classifier, possnet.scaleout

def list_members():
    for room in (pn, possnet.classifier, possnet.scaleout, pn.plots):
        for name in room.__all__:
            value = getattr(room, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{room.__name__}.{name}", value
            if inspect.isclass(value):
                for member, raw in vars(value).items():
                    if not member.startswith("_"):
                        yield f"{room.__name__}.{name}.{member}", getattr(raw, "__func__", raw)

examples, page = [], []
for name, value in list_members():
    text = inspect.getdoc(value) or ""
    examples += [line.strip() for line in text.splitlines() if line.strip().startswith(">>>")]
    page += [*NumpyDocstring(text.splitlines(), Config(napoleon_use_rtype=False), what="object", name=name).lines(), ""]
tree = publish_doctree("\\n".join(page), settings_overrides={"report_level": 5, "halt_level": 6})
shown = "\\n".join(node.astext() for node in tree.findall(nodes.doctest_block)).splitlines()
for line in Counter(examples) - Counter(line.strip() for line in shown):
    print(line)
print(len(examples), file=sys.stderr)
"""


# The names that have an equation in the mathematics: distributions, queries, learners, scores, laws, transformations.
EQUATIONS = """Possibility Possibility.possibility Possibility.necessity Possibility.condition Possibility.nonspecificity Conjunction
MassFunction MassFunction.contour MassFunction.belief MassFunction.plausibility MassFunction.commonality MassFunction.pignistic
Network Network.do normalise_tables Inference.query Inference.necessity Inference.possibility_of Inference.most_possible count fit
fit_random_sets fit_em fit_coarsened fit_cut identify_degrees log_likelihood log_likelihood_by_family random_set_log_likelihood
random_set_log_likelihood_by_family information_affinity sample guyonnet chanas sampling_law sampling_limit simulated_limit
to_possibility to_probability explain contributions sensitivity conflicts next_questions decide calibrate complete gate_or gate_and
gate_max gate_min bin_measurements""".split()  # noqa: SIM905


def list_public() -> Iterator[tuple[str, Any]]:
    """Every public class and function, and where it is found."""
    for room in (pn, possnet.classifier, possnet.scaleout, pn.plots):
        for name in room.__all__:
            value = getattr(room, name)
            if inspect.isclass(value) or inspect.isroutine(value):
                yield f"{room.__name__}.{name}", value


def find(name: str) -> Any:
    value: Any = pn
    for part in name.split("."):
        value = getattr(value, part)
    return value


def test_every_public_class_and_function_has_an_example() -> None:
    names = [name for name, _ in list_public()]
    assert len(names) > 150
    assert [name for name, value in list_public() if ">>>" not in (inspect.getdoc(value) or "")] == []


@pytest.mark.parametrize("name", EQUATIONS)
def test_a_name_of_the_mathematics_has_its_equation(name: str) -> None:
    text = inspect.getdoc(find(name)) or ""
    section = re.search(r"^Equation\n--------\n(.+?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
    assert section is not None
    assert ">>>" not in section[1]
    assert all(re.search(r"[=≤-]", line) for line in section[1].splitlines())
    assert ">>>" in text


@pytest.mark.needs("site")
def test_every_equation_of_a_docstring_is_mathml() -> None:
    script = """
import sys
from docutils.utils.math import latex2mathml
from plain_formulas import write_latex
for line in sys.stdin.read().splitlines():
    print(latex2mathml.tex2mathml(write_latex(line), as_block=True).count("</m"))
"""
    lines = [
        line.strip()
        for _, text in list_docstrings()
        for section in re.findall(r"^Equation\n--------\n(.+?)(?:\n\n|\Z)", text, re.MULTILINE | re.DOTALL)
        for line in section.splitlines()
    ]
    assert len(lines) >= len(EQUATIONS)
    path = {"PYTHONPATH": f"{ROOT / '.venv/docs'}:{ROOT / 'docs/_site'}", "PATH": "", "PYTHONUTF8": "1"}
    command = [sys.executable, "-c", script]
    run = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=False, env=path, encoding="utf-8"
    )
    assert run.returncode == 0, run.stderr
    assert all(int(count) > 3 for count in run.stdout.split())
    assert len(run.stdout.split()) == len(lines)


@pytest.mark.needs("site")
def test_a_formula_that_cannot_be_read_is_a_warning_and_stands_as_it_was_written() -> None:
    script = """
import logging
from docutils import nodes
from sphinx.util import logging as sphinx_logging
import mathml_formulas
seen = []
mathml_formulas.logger = type("Log", (), {"warning": lambda self, text, *rest, **more: seen.append(text % rest)})()
print(mathml_formulas.convert_formula(nodes.math("", r"a < \\nosuchcommand{x}"), as_block=False))
print(mathml_formulas.convert_formula(nodes.math("", r"a < b"), as_block=False)[:5])
print(len(seen), seen[0])
"""
    path = {"PYTHONPATH": f"{ROOT / '.venv/docs'}:{ROOT / 'docs/_site'}", "PATH": ""}
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, env=path)
    assert run.returncode == 0, run.stderr
    shown, readable, warned = run.stdout.splitlines()
    assert shown == r"<code>a &lt; \nosuchcommand{x}</code>"
    assert readable == "<math"
    assert warned.startswith(r"1 formula a < \nosuchcommand{x}: ")


def list_docstrings() -> Iterator[tuple[str, str]]:
    for path in sorted((ROOT / "src/possnet").rglob("*.py")):
        source = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(source)) if "    ----" in source else ():
            if isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Module):
                text = ast.get_docstring(node)
                if text:
                    yield f"{path.relative_to(ROOT)}: {getattr(node, 'name', 'module')}", text


def test_examples_after_a_section_have_a_heading() -> None:
    swallowed = []
    for name, text in list_docstrings():
        parts = re.split(rf"^{SECTIONS}\n-+$", text, flags=re.MULTILINE)
        if len(parts) > 1:
            sections = "".join(parts[2::2]).split("\nExamples\n--------\n")[0]
            if re.search(r"^>>>", sections, re.MULTILINE):
                swallowed.append(name)
    assert swallowed == []


@pytest.mark.needs("site")
def test_every_example_of_a_public_name_is_rendered_as_one() -> None:
    command = [sys.executable, "-c", RENDER]
    path = {"PYTHONPATH": str(ROOT / ".venv/docs"), "PATH": ""}
    run = subprocess.run(command, capture_output=True, text=True, check=False, env=path)
    assert run.returncode == 0, run.stderr
    assert run.stdout == ""
    assert int(run.stderr) > 900
