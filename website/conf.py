"""What Sphinx is told: ``make docs``."""

from typing import Any

from docutils import nodes
from sphinx.application import Sphinx

from boundlab.__about__ import SITE, __version__

project = "boundlab"
author = "The boundlab developers"
project_copyright = f"the boundlab developers (MIT licence), version {__version__}"
version = release = __version__
extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax", "sphinx-mathjax-offline"]
highlight_language = "none"
suppress_warnings = ["toc.not_included"]  # tables of results are reached from the page about them

html_theme = "furo"
html_title = f"boundlab {__version__}"
html_baseurl = SITE
html_show_sourcelink = False
html_static_path = ["static"]
html_css_files = ["site.css"]

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_heading_slug_func = "boundlab.cli.docs.anchor_of"
nb_execution_mode = "off"  # what is stored was run by make notebooks, and is held by tests

autodoc_typehints = "none"  # docstrings say what is taken and returned
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_rtype = False


def leveled(_app: Sphinx, _page: str, _template: str, context: dict[str, Any], _doctree: object) -> None:
    """Say how deep the headings of the contents are, without which a screen reader cannot place them."""
    tree = context.get("furo_navigation_tree", "")
    context["furo_navigation_tree"] = tree.replace('role="heading"', 'role="heading" aria-level="2"')


def tagged(_app: Sphinx, page: nodes.document) -> None:
    r"""Take numbered formulas out of the environment that Sphinx puts around lines, which has no ``\tag``."""
    for one in page.findall(nodes.math_block):
        if r"\tag" in one.astext():
            one.replace_self(nodes.math_block(text := rf"\[{one.astext()}\]", text, **{"no-wrap": True}))


def setup(app: Sphinx) -> None:
    """Connect what Sphinx and its theme leave out."""
    app.connect("html-page-context", leveled, priority=900)  # after Furo has made the contents
    app.connect("doctree-read", tagged)
