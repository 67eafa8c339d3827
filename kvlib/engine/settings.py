"""An engine's settings, checked before anything is read or allocated."""

from kvlib.attention import BACKENDS
from kvlib.checks import whole
from kvlib.engine.shown import shown
from kvlib.errors import BadConfig
from kvlib.events import EventLog


def check_settings(attention_backend: object, log: object, **sizes: object) -> None:
    """Raise BadConfig, naming the setting, for what LLMEngine cannot take."""
    for name, size in sizes.items():
        whole(name, size)
    if attention_backend not in tuple(BACKENDS):
        raise BadConfig(f"attention_backend is {shown(attention_backend)}; the known ones are {', '.join(BACKENDS)}")
    if log is not None and not isinstance(log, EventLog):
        raise BadConfig(f"log is {shown(log)}; give a kvlib.events.EventLog, or None to keep no log")
