"""Formulas as MathML, by docutils' own converter: browsers draw it themselves, and nothing is fetched from anywhere."""

from __future__ import annotations

import re
from html import escape
from typing import TYPE_CHECKING

from docutils import nodes
from docutils.utils.math import MathError, latex2mathml
from sphinx.util import logging

if TYPE_CHECKING:
    from sphinx.application import Sphinx
    from sphinx.util.typing import ExtensionMetadata
    from sphinx.writers.html5 import HTML5Translator


logger = logging.getLogger(__name__)


def convert_formula(node: nodes.math | nodes.math_block, *, as_block: bool) -> str:
    """MathML of a formula; one that cannot be read is a warning, and stands as it was written."""
    try:
        text = str(latex2mathml.tex2mathml(node.astext(), as_block=as_block))
        return re.sub(r"<mo>([{}])</mo>", r'<mo stretchy="false">\1</mo>', text)  # as high as the set between them
    except MathError as error:
        logger.warning("formula %s: %s", node.astext(), error, location=node)
        return f"<code>{escape(node.astext())}</code>"


def write_inline(translator: HTML5Translator, node: nodes.math) -> None:
    """Write a formula within a sentence."""
    translator.body.append(convert_formula(node, as_block=False))
    raise nodes.SkipNode


def write_block(translator: HTML5Translator, node: nodes.math_block) -> None:
    """Write a formula on lines of its own."""
    translator.body.append('<div class="formula">' + convert_formula(node, as_block=True) + "</div>\n")
    raise nodes.SkipNode


def setup(app: Sphinx) -> ExtensionMetadata:
    """Offer the renderer ``mathml`` to ``html_math_renderer``."""
    app.add_html_math_renderer("mathml", (write_inline, None), (write_block, None))
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}
