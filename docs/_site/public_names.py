"""The reference: a line ``<!-- names of ROOM -->`` becomes the documentation of the room's public names.

The names of ``import possnet`` are those of ``possnet/__init__.pyi``, in which each room is imported once. Rooms with a
door of their own (``possnet.classifier``) are named with the package in front, and give what their ``__all__`` lists.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import msgspec
from docutils import nodes
from plain_formulas import render_equations
from sphinx.ext.napoleon import Config, NumpyDocstring

import possnet
from possnet.io import DATA_FORMATS, NETWORK_FORMATS, json_schema
from possnet.registries import Registry

if TYPE_CHECKING:
    from sphinx.addnodes import pending_xref
    from sphinx.application import Sphinx
    from sphinx.environment import BuildEnvironment
    from sphinx.util.typing import ExtensionMetadata

DOORS = ("possnet.classifier", "possnet.scaleout", "possnet.plots")
SECTIONS = Config(napoleon_use_rtype=False)
FORMATS = "<!-- formats -->"
READS = {"network": "decode", "data": "open"}
WORDS = {True: "yes", False: "no"}
TEXT = re.compile(r"^<!-- text of ([\w.]+) -->$", re.MULTILINE)
SCHEMA = re.compile(r"^<!-- schema of (\w+) -->$", re.MULTILINE)
FILE_LINK = re.compile(r"\[[\w-]+\.md\]\(([\w./-]+\.md(?:#[\w-]+)?)\)")  # shown by the title of the page instead
MARK = re.compile(r"^<!-- names of ([\w.]+)(?:: ([\w, ]+))? -->$", re.MULTILINE)


def read_public_names() -> dict[str, list[str]]:
    """Room -> its names at the top level of possnet."""
    stub = ast.parse(Path(possnet.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    rooms: dict[str, list[str]] = {}
    for statement in stub.body:
        if isinstance(statement, ast.ImportFrom) and statement.module:
            rooms.setdefault(statement.module, []).extend(alias.name for alias in statement.names)
    return rooms


def list_names(room: str) -> tuple[str, list[str]]:
    """The module through which a room is reached, and its public names."""
    if not room.startswith("possnet."):
        return "possnet", sorted(read_public_names()[room], key=str.lower)
    module = importlib.import_module(room)
    values = {name: getattr(module, name) for name in module.__all__}
    return room, sorted((n for n, v in values.items() if inspect.isclass(v) or inspect.isroutine(v)), key=str.lower)


def write_directive(module: str, name: str) -> list[str]:
    """The lines that document one name."""
    value: Any = getattr(importlib.import_module(module), name)
    if inspect.isclass(value):
        lines = [f".. autoclass:: {module}.{name}"]
        if not issubclass(value, BaseException):
            lines += ["   :members:"]
        return [*lines, ""]
    if inspect.isroutine(value):
        return [f".. autofunction:: {module}.{name}", ""]
    if isinstance(value, Registry):
        return list_entries(module, name, value)
    return [f".. autodata:: {module}.{name}", "   :no-value:", ""]


def list_entries(module: str, name: str, registry: Registry[Any]) -> list[str]:
    """A registry as the table of what is registered, in place of the docstring that all registries share."""
    rows = [(entry.name, entry.label, getattr(entry, "description", "")) for entry in registry.values()]
    width = 3 if any(row[2] for row in rows) else 2
    lines = [
        f".. py:data:: {module}.{name}",
        "",
        f"   The {len(rows)} entries of the :py:class:`Registry <possnet.registries.Registry>`:",
        "",
        "   .. list-table::",
    ]
    lines += ["      :header-rows: 1", ""]
    for row in [("name", "label", "what it is"), *((f"``{row[0]}``", *row[1:]) for row in rows)]:
        lines += [f"      {'* -' if place == 0 else '  -'} {text}" for place, text in enumerate(row[:width])]
    return [*lines, ""]


def expand_marks(app: Sphinx, docname: str, source: list[str]) -> None:
    """Write the directives of a page in the place of its marks."""

    def expand(match: re.Match[str]) -> str:
        module, names = list_names(match[1])
        chosen = [name.strip() for name in match[2].split(",")] if match[2] else names
        lines = [line for name in chosen for line in write_directive(module, name)]
        return "\n".join(["```{eval-rst}", *lines, "```"])

    source[0] = FILE_LINK.sub(r"[](\1)", TEXT.sub(include_text, source[0]))
    source[0] = SCHEMA.sub(write_schema, MARK.sub(expand, source[0]))
    if FORMATS in source[0]:
        source[0] = source[0].replace(FORMATS, write_formats())


def include_text(match: re.Match[str]) -> str:
    """A text of the repository's top folder, for a page in a folder of docs; its links are those of the site."""
    text = (Path(__file__).parents[2] / match[1]).read_text(encoding="utf-8")
    text = re.sub(r"\]\(docs/", "](../", text)
    return re.sub(
        r"\]\((CHANGELOG|CODE_OF_CONDUCT|CONTRIBUTING|SECURITY)\.md", lambda link: f"]({link[1].lower()}.md", text
    )


def write_formats() -> str:
    """The formats that the registries know, as a table."""
    lines = ["| what | format | suffixes | read | written |", "|---|---|---|---|---|"]
    for what, registry in (("network", NETWORK_FORMATS), ("data", DATA_FORMATS)):
        for name in registry:
            entry: Any = registry[name]
            reads, writes = (getattr(entry, field, None) is not None for field in (READS[what], "write"))
            suffixes = ", ".join(f"`{suffix}`" for suffix in entry.suffixes)
            lines.append(f"| {what} | {entry.label} | {suffixes} | {WORDS[reads]} | {WORDS[writes]} |")
    return "\n".join(lines)


def write_schema(match: re.Match[str]) -> str:
    """The JSON Schema of a document of `possnet.io.json_schema`, as its reader checks it."""
    schema = msgspec.json.schema(getattr(json_schema, match[1]))
    return f"```json\n{json.dumps(schema, indent=2)}\n```"


def trim_blocks(app: Sphinx, tree: nodes.document) -> None:
    """Take the empty line away that ends a doctest in Markdown."""
    for block in tree.findall(nodes.literal_block):
        text = block.astext().rstrip("\n")
        if block.rawsource == block.astext() != text:
            block.rawsource = text
            block[:] = [nodes.Text(text)]


def offer_files(app: Sphinx, tree: nodes.document, docname: str) -> None:
    """Make the name above a file that a page shows a link that saves the file."""
    for wrapper in tree.findall(nodes.container):
        if wrapper.get("literal_block") and isinstance(wrapper[0], nodes.caption):
            name = wrapper[0].astext()
            if re.fullmatch(r"[\w.-]+\.\w+", name):
                address = "data:text/plain;charset=utf-8," + quote(wrapper[1].astext() + "\n")
                link = f'<a download="{name}" href="{address}" title="Save {name}">{name}</a>'
                wrapper[0][:] = [nodes.raw("", link, format="html")]


def let_blocks_scroll(app: Sphinx, page: str, template: str, context: dict[str, Any], tree: object) -> None:
    """Blocks of code scroll sideways, by the keyboard too; lists of definitions hold terms and definitions alone."""
    if "body" in context:
        body = re.sub(r"(<div class=\"highlight\">)<pre>", r'\1<pre tabindex="0">', context["body"])
        context["body"] = mend_lists(body)


def mend_lists(body: str) -> str:
    r"""Parameters of a signature on lines of their own as spans: Sphinx has them as a list of definitions without terms.

    >>> mend_lists('<span class="sig-paren">(</span>\n\n<dl>\n<dd>a, </dd>\n</dl>\n\n<span>)</span>')
    '<span class="sig-paren">(</span><span class="sig-lines"><span class="sig-line">a, </span>\n</span><span>)</span>'
    """

    def mend(match: re.Match[str]) -> str:
        lines = match[2].replace("<dd>", '<span class="sig-line">').replace("</dd>", "</span>")
        return f'{match[1]}<span class="sig-lines">{lines}</span>'

    return re.sub(r'(<span class="sig-paren">[(\[]</span>)\s*<dl>\s*(<dd>.*?)</dl>\s*', mend, body, flags=re.DOTALL)


def skip_inherited_requests(
    app: Sphinx, what: str, name: str, value: object, skip: bool, options: Any
) -> bool | None:  # fmt: skip
    """Leave out ``set_fit_request`` and the like, which scikit-learn writes."""
    return True if re.fullmatch(r"set_\w+_request", name) else None


def resolve_inner_name(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contnode: nodes.Element
) -> nodes.Element | None:
    """Link ``possnet.network.network.Network``, as annotations have it, to ``possnet.Network``."""
    if node.get("refdomain") != "py":
        return None
    domain = env.domains.python_domain
    parts = node["reftarget"].split(".")
    for start in range(len(parts)):
        tail = ".".join(parts[start:])
        candidates = [f"possnet.{tail}", *(f"{door}.{tail}" for door in DOORS)]
        for candidate in candidates:
            if candidate in domain.objects:
                entry = domain.objects[candidate]
                reference = nodes.reference("", "", internal=True, reftitle=candidate)
                reference["refuri"] = app.builder.get_relative_uri(node["refdoc"], entry.docname) + "#" + entry.node_id
                reference += contnode
                return reference
    return None


def render_sections(app: Sphinx, what: str, name: str, value: object, options: Any, lines: list[str]) -> None:
    """Read the sections of a docstring; unlike napoleon's own step, leave "1 - max π: ..." of a property as it is."""
    rendered = NumpyDocstring(render_equations(lines), SECTIONS, app, "object", name, value, options).lines()
    lines[:] = [part for line in rendered for part in quote_attribute(line)]


def quote_attribute(line: str) -> list[str]:
    """An attribute of a section, without an entry in the index: members have one of their own."""
    return [line, "   :no-index:"] if line.startswith(".. attribute::") else [line]


def setup(app: Sphinx) -> ExtensionMetadata:
    """Join the build."""
    app.connect("source-read", expand_marks)
    app.connect("autodoc-process-docstring", render_sections)
    app.connect("doctree-read", trim_blocks)
    app.connect("doctree-resolved", offer_files)
    app.connect("html-page-context", let_blocks_scroll)
    app.connect("autodoc-skip-member", skip_inherited_requests)
    app.connect("missing-reference", resolve_inner_name)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
