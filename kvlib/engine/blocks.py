"""Which block manager and which keys an engine's settings ask for."""

from kvlib.engine.settings import Settings
from kvlib.errors import BadConfig
from kvlib.events import EventLog
from kvlib.memory import (
    BlockManager,
    Pages,
    PrefixHasher,
    RadixManager,
    RecordedBlockManager,
    SwapBlockManager,
)
from kvlib.models.model import Model
from kvlib.models.placement import DTYPES
from kvlib.shown import shown


def check_log(settings: Settings, log: object) -> None:
    """Raise BadConfig for a log that cannot be kept."""
    if log is not None and not isinstance(log, EventLog):
        raise BadConfig(f"log is {shown(log)}; give a kvlib.events.EventLog, or None to keep no log")
    if log is not None and settings.prefix_cache == "radix":
        raise BadConfig("prefix_cache is 'radix', which keeps no log; take 'hash', or log=None")


def check_loaded(settings: Settings, model: Model) -> None:
    """Raise BadConfig for a device, a dtype or a form of the linear layers that the loaded model does not have."""
    device, dtype = model.decoder.device, model.decoder.dtype
    if settings.device not in ("auto", device.type):
        raise BadConfig(
            f"device is {settings.device!r}, and the model was loaded on {device}; load it so, or give device='auto'"
        )
    if settings.dtype != "auto" and DTYPES[settings.dtype] != dtype:
        raise BadConfig(
            f"dtype is {settings.dtype!r}, and the model was loaded as {dtype}; load it so, or leave dtype out"
        )
    if settings.linear not in ("auto", model.linear):
        raise BadConfig(
            f"linear is {shown(settings.linear)}, and the model was loaded as {model.linear!r}; "
            "load it so, or leave linear out"
        )


def manager_of(settings: Settings, log: EventLog | None) -> BlockManager:
    """The block manager, which opens the log."""
    sizes = (settings.num_blocks, settings.block_size)
    if settings.prefix_cache == "radix":
        return RadixManager(*sizes)
    if log is not None:
        return RecordedBlockManager(*sizes, log, num_host_blocks=settings.num_host_blocks)
    return SwapBlockManager(*sizes, num_host_blocks=settings.num_host_blocks)


def keys_of(settings: Settings) -> PrefixHasher | Pages | None:
    """What makes the keys of full blocks; None without prefix caching."""
    if not settings.enable_prefix_caching:
        return None
    return Pages(settings.block_size) if settings.prefix_cache == "radix" else PrefixHasher(settings.block_size)
