"""A wrong variant of the kernels, one edit away from the right one."""

from pathlib import Path
from typing import NamedTuple

KERNELS = Path("kvlib", "attention", "triton")


class Fault(NamedTuple):
    """`old`, which occurs once in `file` of kvlib/attention/triton, becomes `new`.

    harmless: why no output can show it, where that is so.
    """

    name: str
    file: str
    old: str
    new: str
    harmless: str | None = None

    def edited(self, source: str) -> str:
        """`source` with the fault in it. The text that it replaces has to be there once."""
        found = source.count(self.old)
        assert found == 1, f"{self.old!r} is {found} times in {self.file}: the fault has to follow the code"
        return source.replace(self.old, self.new)

    def plant(self, root: Path) -> None:
        """Make the edit in the package that lies in the folder `root`."""
        path = root / KERNELS / self.file
        path.write_text(self.edited(path.read_text()))
