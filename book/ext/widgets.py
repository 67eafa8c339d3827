"""Sphinx extension: the script and the styles of the widgets, on those pages that hold one.

A page shows a widget from the data in its own HTML. What the widget's notebook state would add to the page is left out.
"""

from pathlib import Path
from typing import Any

from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

from kvlib.show.lab_bench import runs
from kvlib.show.modules import script, styles

FILES = {"bench": ("bench", "machine"), "machine": ("machine",)}  # a page that holds the first loads this for both


def write_files(app: Sphinx) -> None:
    """Put the joined script and styles where the site's other files come from."""
    folder = Path(app.doctreedir) / "widgets"
    (folder / "bench").mkdir(parents=True, exist_ok=True)
    for file, names in FILES.items():
        (folder / f"{file}.js").write_text(script(*names), encoding="utf-8")
        (folder / f"{file}.css").write_text(styles(*names), encoding="utf-8")
    for name, text in runs().items():
        (folder / "bench" / name).write_text(text, encoding="utf-8")
    app.config.html_static_path.append(str(folder))


def drop_state(app: Sphinx, env: BuildEnvironment) -> None:
    """Drop the state that a kernel's widgets leave in a notebook, beside the data that the page has of them."""
    for metadata in getattr(env, "nb_metadata", {}).values():
        metadata.get("js_files", {}).pop("ipywidgets_state", None)


def add_files(app: Sphinx, pagename: str, templatename: str, context: dict, doctree: object) -> None:
    """Have a page that holds a widget load the script and the styles."""
    body = context.get("body", "")
    file = next((name for name in FILES if f'data-widget="{name}"' in body), None)
    if file:
        app.add_js_file(f"{file}.js", loading_method="defer")
        app.add_css_file(f"{file}.css")


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("builder-inited", write_files)
    app.connect("env-updated", drop_state)
    app.connect("html-page-context", add_files)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
