"""What kvlib and the book's cells use of Python's standard library, and MicroPython lacks."""

import builtins
import collections
import sys
from pathlib import Path


class deque(list):
    """A queue with or without a largest length; MicroPython's own has always one."""

    def __init__(self, items=(), maxlen=None):
        super().__init__(items)
        self.maxlen = maxlen

    def append(self, item):
        super().append(item)
        if self.maxlen is not None and len(self) > self.maxlen:
            self.pop(0)

    def appendleft(self, item):
        self.insert(0, item)

    def popleft(self):
        return self.pop(0)


collections.deque = deque


class Folder:
    """The files beside a package's modules, as `importlib.resources.files` gives them."""

    def __init__(self, package):
        self.path = Path(__import__(package, None, None, ("__path__",)).__path__)

    def joinpath(self, name):
        return self.path / name


class resources:
    files = Folder


class importlib:
    resources = resources


sys.modules["importlib"] = importlib


def no_input(*prompt):
    raise EOFError("a cell in a page cannot ask; write the answer into its code")


builtins.input = no_input
