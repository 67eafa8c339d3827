"""A few pages, built with one extension of the book."""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

EXTENSIONS = Path(__file__).parents[2] / "book" / "ext"


def build(
    folder: Path, extension: str, pages: Mapping[str, str | None], *options: str, first: str = ""
) -> subprocess.CompletedProcess:
    """Write the pages, by name (a text of None removes one), and build them into `out`, warnings as errors, in two
    processes.

    options: of sphinx-build. first: what Python runs before it loads the extension.
    """
    conf = f"import sys\nsys.path.insert(0, {str(EXTENSIONS)!r})\n{first}\n"
    (folder / "conf.py").write_text(f'{conf}extensions = ["myst_parser", "{extension}"]\nhtml_theme = "basic"\n')
    for name, text in pages.items():
        page = folder / name
        page.parent.mkdir(exist_ok=True)
        page.unlink(missing_ok=True) if text is None else page.write_text(text)
    command = [sys.executable, "-m", "sphinx", "-b", "html", "-W", "--keep-going", "-q", "-j", "2", *options]
    return subprocess.run([*command, str(folder), str(folder / "out")], capture_output=True, text=True)
