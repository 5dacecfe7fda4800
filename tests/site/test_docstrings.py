"""Examples of docstrings are seen by those who render them: sections are numpy's, and examples have a heading of their own."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator

import pytest

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
