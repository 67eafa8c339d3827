"""Pages whose cells need Triton, which has builds for Linux only: elsewhere they are shown without their output."""

from importlib.util import find_spec
from typing import Any

from sphinx.application import Sphinx
from sphinx.config import Config

PAGES = [
    "book/12-testing-the-kernel.md",
    "book/12-the-kernel.md",
    "labs/08-write-the-kernel.md",
    "labs/09-race-the-kernel.md",
]


def leave_out(app: Sphinx, config: Config) -> None:
    """Have the cells of PAGES not run where there is no Triton."""
    if find_spec("triton") is None:
        config.nb_execution_excludepatterns = [*config.nb_execution_excludepatterns, *PAGES]


def setup(app: Sphinx) -> dict[str, Any]:
    app.connect("config-inited", leave_out)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
