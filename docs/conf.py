"""Sphinx's settings for the documentation site: `make docs` writes it, for readers without a network, too."""

from __future__ import annotations

import sys
import tomllib
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_extensions"), str(HERE.parent)]

project = "sscq"
author = "the authors of sscq"
version = release = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
language = "en"

extensions = ["myst_parser", "sphinx_external_toc", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "pages"]
external_toc_path = "_toc.yml"
exclude_patterns = ["_extensions", "_templates"]
myst_heading_anchors = 6  # the anchors of code hosts, so that one link serves both
suppress_warnings = [
    "myst.header",  # pages of figures begin at the level that their figures need
    "ref.python",  # returned values are named like attributes of several classes
]

autodoc_mock_imports = ["torch"]  # pages of its two classes need no network: seconds saved in each build
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # docstrings say types with shapes and units
napoleon_custom_sections = [("Attributes", "params_style")]
napoleon_use_rtype = False

html_theme = "furo"
html_title = f"sscq {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["../../versions.js"]
templates_path = ["_templates"]
html_copy_source = False
html_show_copyright = html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
highlight_language = "bash"  # a block without a language is typed into a shell (tests/fences.py)
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "github-dark"
