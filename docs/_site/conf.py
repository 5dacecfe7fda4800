"""The documentation site: Sphinx, Markdown, and everything that a page needs beside it."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import possnet

project = "possnet"
author = "The possnet developers"
copyright = author  # noqa: A001
version = release = possnet.__version__
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx_copybutton",
    "sphinx_design",
    "mathml_formulas",
    "public_names",
]
exclude_patterns = ["_build", "_site"]
root_doc = "index"
source_suffix = {".md": "markdown"}
default_role = "py:obj"
suppress_warnings = ["myst.strikethrough"]

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
myst_links_external_new_tab = False

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_preserve_defaults = True
python_use_unqualified_type_names = True
add_module_names = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_title = f"possnet {release}"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_math_renderer = "mathml"
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # it reads pages by requests, which file addresses do not allow
html_theme_options = {"navigation_with_keys": True}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
