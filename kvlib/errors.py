"""Every error kvlib raises on purpose. Each message says what was given, what is allowed and what to do.

One base class only: a browser's small Python cannot inherit from two built-in exceptions at once.
"""


class KvlibError(Exception):
    """Base of all errors below, so that one `except` catches them."""


class BadConfig(KvlibError):
    """A setting or a model's configuration cannot be used as it is."""


class BadInput(KvlibError):
    """A prompt, a sampling value or a tensor handed to a call is outside what the call accepts."""


class BadModelFile(KvlibError):
    """A weights file is damaged, truncated, or lacks a tensor that the model needs."""


class BadEvents(KvlibError):
    """An event log has an unknown version, is cut short, or breaks an invariant of the memory it describes."""


class BadLab(KvlibError):
    """The text of a lab cannot be made into a notebook that does what it says."""


class CannotRun(KvlibError):
    """A notebook cannot be run here, by no fault of what is in it."""


class OutsideMemory(KvlibError):
    """A kernel that is being watched reads or writes where none of its arguments is."""


class EndlessLoop(KvlibError):
    """A program of a kernel that does more steps than any needs."""


class OutOfBlocks(KvlibError):
    """The pool has too few free blocks now; the call changed nothing and may succeed later."""


class RequestTooLarge(KvlibError):
    """The request cannot fit even in an empty pool, or in the model's context; waiting will not help."""


class UnknownSequence(KvlibError):
    """No sequence with this id holds memory here."""


class DoubleFree(KvlibError):
    """A block was given back more often than it was taken."""


class BlocksInUse(KvlibError):
    """The call needs a memory that nobody uses, and somebody does."""


class PointFailed(KvlibError):
    """The function of a sweep raised at one of its points; what it raised is the cause of this error."""


class MissingPackage(KvlibError):
    """An optional package is needed for this call and is not installed."""


class UnknownNumber(KvlibError):
    """The ledger holds no number with this id."""
