"""A kernel of nbval's that is not waited for beyond the limits of a run."""

import glob
import os
import signal
import time
from collections import deque
from pathlib import Path
from queue import Empty
from typing import Any, NamedTuple

import zmq
from nbval.kernel import RunningKernel

from kvlib.sizing import GiB, MiB

TURN_S = 0.2  # between looks at whether the kernel lives and how much memory it has
HEADER_BYTES = 100  # of a message, about
SILENT = "its kernel no longer says what it prints"


class Bounds(NamedTuple):
    """What a run may use, with the moment it `began`, in s of time.monotonic().

    sees_processes: /proc shows the processes of this run and no others, so that their memory can be added up.
    """

    cell_s: float
    total_s: float
    memory_bytes: int
    output_bytes: int
    began: float
    sees_processes: bool


class BrokeOff(Exception):
    """The run cannot go on: the outcome of the cell that was running, and why."""

    def __init__(self, outcome: str, why: str) -> None:
        super().__init__(why)
        self.outcome = outcome


class WatchedKernel(RunningKernel):
    """nbval's kernel, which reads messages as they come and raises BrokeOff when a bound is passed."""

    bounds: Bounds

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.printed = ""
        self._running = ""
        self._num_bytes = 0
        self._unread: deque[dict[str, Any]] = deque()
        self._has_started = False
        self._next_check = 0.0
        super().__init__(*args, **kwargs)
        self._has_started = True

    def execute_cell_input(self, cell_input: str, allow_stdin: bool | None = None) -> str:
        """Have the kernel run a cell; returns the id of the message that says so."""
        self.printed = ""
        self._running = super().execute_cell_input(cell_input, allow_stdin)
        return self._running

    def get_message(self, stream: str, timeout: float | None = None) -> dict[str, Any]:
        """The next message of the channel "shell" or "iopub". Raises Empty after `timeout` s if the kernel starts."""
        channel, iopub = getattr(self.kc, f"{stream}_channel"), self.kc.iopub_channel
        poller = zmq.Poller()
        for each in {channel, iopub}:
            poller.register(each.socket, zmq.POLLIN)
        end = time.monotonic() + (timeout or 0)
        while True:
            self._check()
            while iopub.msg_ready():
                self._unread.append(self._counted(iopub.get_msg(timeout=0)))
                self._check()
            if channel is iopub and self._unread:
                return self._unread.popleft()
            if channel is not iopub and channel.msg_ready():
                return channel.get_msg(timeout=0)
            if time.monotonic() > end:
                if not self._has_started:
                    raise Empty
                raise BrokeOff("timeout", f"no end after {timeout:g} s" if stream == "shell" else SILENT)
            poller.poll(int(TURN_S * 1000))

    def _counted(self, message: dict[str, Any]) -> dict[str, Any]:
        content = message["content"]
        self._num_bytes += HEADER_BYTES + len(str(content))
        if self._num_bytes > self.bounds.output_bytes:
            raise BrokeOff("failed", f"more than {_size(self.bounds.output_bytes)} was printed")
        if message["parent_header"].get("msg_id") == self._running and content.get("name") == "stdout":
            self.printed += content["text"]
        return message

    def _check(self) -> None:
        bounds, now = self.bounds, time.monotonic()
        if not self._has_started or now < self._next_check:
            return
        self._next_check = now + TURN_S
        if not self.is_alive():
            raise BrokeOff("died", f"the kernel died: {_status(self.km.provisioner.process.returncode)}")
        if now - bounds.began > bounds.total_s:
            raise BrokeOff("timeout", f"no end after {bounds.total_s:g} s in all")
        if bounds.sees_processes and _resident_bytes() > bounds.memory_bytes:
            raise BrokeOff("died", f"its memory, {_size(bounds.memory_bytes)}, was used up")


def _status(code: int) -> str:
    """What the exit status of a process, or of the shell that waited for it, means."""
    number = -code if code < 0 else code - 128
    if number not in set(signal.Signals):
        return f"it ended with status {code}"
    return f"it was ended by {signal.Signals(number).name}"


def _resident_bytes() -> int:
    """The memory that all processes which /proc shows have, what they share counted for each."""
    pages = 0
    for path in glob.glob("/proc/[0-9]*/statm"):
        try:
            pages += int(Path(path).read_text().split()[1])
        except (OSError, IndexError):  # it has just ended
            continue
    return pages * os.sysconf("SC_PAGE_SIZE")


def _size(num_bytes: int) -> str:
    return f"{num_bytes / GiB:g} GiB" if num_bytes >= GiB else f"{num_bytes / MiB:g} MiB"
