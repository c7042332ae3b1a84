"""How Sphinx builds this documentation: `make docs`."""

from __future__ import annotations

import sys
from importlib.metadata import version as installed_version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

project = "eqbench"
author = "The eqbench authors"
copyright = author
version = release = installed_version("eqbench")

extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "eqbench_reference",
]
# The first is for who reads the folder in a browser of files.
exclude_patterns = ["README.md", "_build", "_extensions"]

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4

# Notebooks are run while the documentation is built, in folders that vanish with the build.
nb_execution_mode = "force"
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_execution_timeout = 300
nb_merge_streams = True
# Of charts the page shows the picture that they bring.
suppress_warnings = ["mystnb.unknown_mime_type"]

# Docstrings write names in single backticks.
default_role = "code"
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
# Types of other packages have no page here, since nothing is looked up on the network.
nitpick_ignore_regex = [("py:.*", r"(?!eqbench).*")]
# What public docstrings and signatures mention and users need not know. It is a list of names, so
# that a reference to anything else that has no page fails the build.
nitpick_ignore = [
    ("py:class", "eqbench.registry.Registry"),
    ("py:class", "eqbench.registry.T"),
    ("py:class", "eqbench.model.words.Wording"),
    ("py:class", "eqbench.spec.Spec"),
    ("py:class", "eqbench.model.profile.HasTree"),
    ("py:class", "eqbench.studies.frame.R"),
    ("py:class", "eqbench.studies.frame.P"),
    ("py:class", "eqbench.studies.frame.D"),
    ("py:class", "eqbench.plots.style.Panel"),
    ("py:class", "eqbench.harness.experiment.Request"),
    ("py:class", "eqbench.store.stored_run.StoredRun"),
    ("py:class", "eqbench.model.sequence_form.FormArrays"),
    ("py:class", "eqbench.model.dealt_form.DealtForm"),
    ("py:class", "eqbench.model.play.Play"),
    ("py:class", "eqbench.verdicts.beliefs.Reached"),
    ("py:func", "eqbench.model.assemble.assemble"),
    ("py:mod", "eqbench.equilibria.dimension"),
]

html_theme = "furo"
html_title = f"eqbench {release}"
html_static_path = ["_static"]
html_css_files = ["eqbench.css"]
html_copy_source = False
html_show_sourcelink = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#0b5f8a",
        "color-brand-content": "#0b5f8a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cc0ee",
        "color-brand-content": "#6cc0ee",
    },
}
pygments_style = "friendly"
pygments_dark_style = "github-dark"
# Two dashes of an option stay two dashes.
smartquotes = False
