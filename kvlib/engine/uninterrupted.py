"""Ctrl-C that waits for a good moment."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType


class Uninterrupted:
    """A context in which Ctrl-C is noted and raised at the end, or inside `allowed`, where it is let through at once.

    Only the main thread is ever interrupted; in any other, and where Ctrl-C does not raise KeyboardInterrupt, nothing
    is changed.
    """

    def __init__(self) -> None:
        self._noted = False
        self._holds = False

    def __enter__(self) -> "Uninterrupted":
        if threading.current_thread() is threading.main_thread():
            self._holds = signal.getsignal(signal.SIGINT) is signal.default_int_handler
        self._hold()
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._let_go()
        if kind is None:
            self._raise_noted()

    @contextmanager
    def allowed(self) -> Iterator[None]:
        """Let interrupts through, the one noted before too. Whatever is raised finds them held back again."""
        self._raise_noted()
        self._let_go()
        try:
            yield
        finally:
            self._hold()

    def _hold(self) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, self._note)

    def _let_go(self) -> None:
        if self._holds:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _raise_noted(self) -> None:
        if self._noted:
            self._noted = False
            raise KeyboardInterrupt

    def _note(self, number: int, frame: FrameType | None) -> None:
        self._noted = True
