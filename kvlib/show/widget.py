"""What the widgets have in common: one front end, with a kernel in a notebook, without one in a page."""

from pathlib import Path
from typing import Any

from kvlib.errors import BadInput, MissingPackage
from kvlib.show.modules import module, styles
from kvlib.show.pages import element, whole_page

try:
    import anywidget
except ImportError as error:
    raise MissingPackage("the interactive pictures need anywidget; in the clone: pip install '.[book]'") from error


class Widget(anywidget.AnyWidget):
    """A widget whose front end is the script `name`; its public traits are what the front end reads and changes."""

    name: str

    def __init_subclass__(cls) -> None:
        if "name" in vars(cls):  # not for the class that traitlets makes for each instance
            cls._esm = module(cls.name)
            cls._css = styles(cls.name)
        super().__init_subclass__()

    @property
    def own_traits(self) -> dict[str, Any]:
        """The values of the traits that the front end reads, by name."""
        mine = self.traits(sync=True).keys() - anywidget.AnyWidget.class_traits().keys()
        return {name: getattr(self, name) for name in sorted(mine) if not name.startswith("_")}

    @property
    def title(self) -> str:
        """What stands at the head of a page of its own."""
        raise NotImplementedError

    def in_words(self) -> str:
        """What the widget shows, for where it cannot be shown."""
        raise NotImplementedError

    def save(self, path: str | Path, title: str = "") -> None:
        """Write the widget as one HTML file that needs nothing else, for slides or a stick.

        Raises BadInput if the name does not end in .html, so that no other file is overwritten by mistake, or if its
        folder is not there.
        """
        if Path(path).suffix != ".html" or not Path(path).parent.is_dir():
            raise BadInput(f"the file is {str(path)!r}; give a name that ends in .html, in a folder that is there")
        page = whole_page(self.name, self.own_traits, self.in_words(), title or self.title)
        Path(path).write_bytes(page.encode("utf-8", errors="replace"))  # half a surrogate pair has no UTF-8

    def _repr_mimebundle_(self, **kwargs: Any) -> tuple[dict, dict]:
        bundle = super()._repr_mimebundle_(**kwargs)
        data, metadata = bundle if bundle else ({}, {})
        own = {"text/plain": repr(self), "text/html": element(self.name, self.own_traits, self.in_words())}
        return {**data, **own}, metadata

    def __repr__(self) -> str:
        return f"{type(self).__name__}: {self.in_words()}"
