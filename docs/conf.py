"""Settings of the documentation."""

import os
import sys
import warnings
from dataclasses import is_dataclass
from importlib.metadata import version as installed_version
from pathlib import Path

import matplotlib as mpl

sys.path.insert(0, str(Path(__file__).parent))
import experiment_tables
import live_pages
import tables

import rocpath

mpl.use("Agg")
tables.write_all()
experiment_tables.write_all()
live_pages.write_all(Path(__file__).parent / "_live" / "live")
warnings.filterwarnings("error", module="rocpath")

project = "rocpath"
author = "The rocpath developers"
copyright = author  # noqa: A001
version = release = installed_version("rocpath")

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",  # so that pages need no network
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_live", "tables"]
templates_path = ["_templates"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}

myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc shows the types of the docstrings
default_role = "py:obj"
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False
numpydoc_validation_checks = {"GL03", "GL08", "PR01", "PR02", "SS05"}
# Functions return these results; their fields are documented as attributes.
results = [
    name
    for module in (rocpath, rocpath.changepoint)
    for name in module.__all__
    if is_dataclass(result := getattr(module, name)) or hasattr(result, "_fields")
]
numpydoc_validation_exclude = {
    rf"\.({'|'.join(results)})$",
    # The class of a display documents the parameters of all its methods.
    r"\.plots\.\w+\.",
    # The usual methods of scikit-learn; `fit` documents their parameters.
    r"\.(predict|predict_proba|decision_function|score|get_params|set_params)$",
    r"\.LearnedDetector\.(predict_penalty|segment|worth)$",
    r"\.(from_model|per_unit|changes_worth)$",  # one parameter, or those of a twin
    # Modules take the parameters of their functions; the protocol documents a model's.
    r"\.torch\.\w+\.forward$",
}

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "filename_pattern": r"plot_\d\d_",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "show_signature": False,
    "image_scrapers": ("matplotlib",),
    "min_reported_time": 0,
    "write_computation_times": False,  # its page loads a script from a server
}

html_theme = "pydata_sphinx_theme"
html_title = f"rocpath {release}"
html_show_sourcelink = False
html_static_path = ["_static"]
html_extra_path = ["_live"]
html_css_files = ["layout.css"]
html_sidebars = {"index": [], "search": []}  # others show the pages of their section
toc_object_entries_show_parents = "hide"
html_theme_options = {
    "navigation_with_keys": False,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "show_prev_next": True,
    "header_links_before_dropdown": 5,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": ["theme-version"],
}
# On a site of several versions, a menu of them; pages read from disk have none.
if "DOCS_SITE" in os.environ:
    html_theme_options |= {
        "switcher": {
            "json_url": os.environ["DOCS_SITE"] + "/versions.json",
            "version_match": os.environ["DOCS_VERSION"],
        },
        "check_switcher": False,  # the first version is built before there is a list
        "navbar_start": ["navbar-logo", "version-switcher"],
        "show_version_warning_banner": True,
    }
