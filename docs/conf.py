"""Configuration of the documentation site (Sphinx). CMake's target docs sets the environment variables."""
import os
import re
import sys

from sphinx.ext.mathjax import html_visit_displaymath, html_visit_math

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "site"))
import python_reference  # noqa: E402

project = "dualbragg"
author = "the authors of dualbragg"
copyright = author
release = version = os.environ.get("DB_VERSION", "")

# The pages' root is the repository, so that links between Markdown files work here as on any viewer.
root_doc = "docs/index"
include_patterns = ["docs/**.md", "*.md", "bench/*.md", "cuda/*.md"]
exclude_patterns = ["build*", ".*", "tests", ".github"]
extensions = ["myst_parser", "breathe"]

myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 4
myst_dmath_double_inline = True

breathe_projects = {"dualbragg": os.environ.get("DB_DOXYGEN_XML", "")}
breathe_default_project = "dualbragg"
breathe_domain_by_extension = {"h": "c"}
breathe_show_include = False
breathe_show_define_initializer = False
primary_domain = "c"
highlight_language = "none"

html_theme = "furo"
pygments_dark_style = "monokai"
html_title = "dualbragg " + release
html_show_sphinx = False
html_show_copyright = False
html_copy_source = False
html_extra_path = ["site/index.html"]
html_static_path = ["site/static", os.environ.get("DB_KATEX", "")]
html_css_files = ["katex.min.css"]
html_js_files = ["katex.min.js", "formulas.js"]
html_math_renderer = "katex"


def add_contents(app, docname, source):
    """The sidebar: the links of a list of pages become its table of contents, one for each section."""
    if docname not in (root_doc, "docs/decisions/index"):
        return
    for section in ("\n" + source[0]).split("\n## ")[docname == root_doc:]:
        title, _, text = section.partition("\n")
        caption = ":caption: " + title if docname == root_doc else ""
        pages = re.findall(r"^[*|] \[[^]]*\]\(([^)]*)\.md\)", text, re.MULTILINE)
        source[0] += "\n```{toctree}\n:hidden:\n%s\n\n%s\n```\n" % (caption, "\n".join(pages))


def add_python(app, docname, source):
    """The reference of the Python package is made of its sources."""
    if docname == "docs/reference/python-api":
        source[0] = python_reference.expanded(source[0], os.path.join(app.srcdir, "python", "dualbragg"))


def setup(app):
    """Formulas are set by KaTeX from the site's own folder: nothing is fetched from elsewhere."""
    app.add_html_math_renderer("katex", (html_visit_math, None), (html_visit_displaymath, None))
    app.connect("source-read", add_contents)
    app.connect("source-read", add_python)
