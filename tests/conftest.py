"""For every test: one thread a process, one browser, and the figures that a run prints at its end.

KVBOOK_CHROMIUM names the browser where it is not `chromium` on the path.
"""

import os
import shutil
from collections import defaultdict
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

# Read once, when Triton and torch are first imported: kernels run in the interpreter, and a process has one thread,
# since there are as many processes as cores.
os.environ |= {"TRITON_INTERPRET": "1", "OMP_NUM_THREADS": "1"}

import pytest
from filelock import FileLock
from hypothesis import HealthCheck, settings
from playwright.sync_api import Browser, expect, sync_playwright

# Without these Chromium asks its maker's servers for updates, and a network that refuses is reported as an error.
QUIET = ("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync",
         "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost")  # fmt: skip
PATIENCE = 60  # seconds, for what takes a few where nothing else runs

settings.register_profile("untimed", settings(), deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """The one Chromium of this process. While it runs, asyncio.run needs a thread of its own."""
    executable = os.environ.get("KVBOOK_CHROMIUM") or shutil.which("chromium")
    if not executable:
        pytest.fail("no Chromium: install one (Debian: apt install chromium) or name it in KVBOOK_CHROMIUM")
    expect.set_options(timeout=PATIENCE * 1000)
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=executable, args=list(QUIET))
        yield started
        started.close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """A test holds its worker's lock, one marked `alone` those of all; at the gate nobody overtakes one that waits."""
    with ExitStack() as held:
        if own := os.environ.get("PYTEST_XDIST_WORKER"):
            all_of_them = [f"gw{number}" for number in range(int(os.environ["PYTEST_XDIST_WORKER_COUNT"]))]
            shared = Path(item.config.option.basetemp).parent
            with FileLock(shared / "gate"):
                for worker in all_of_them if item.get_closest_marker("alone") else [own]:
                    held.enter_context(FileLock(shared / worker))
        return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Prints what tests recorded with `record_property(title, line)`, in whichever process."""
    lines = defaultdict(list)
    for reports in terminalreporter.stats.values():
        for report in reports:
            if isinstance(report, pytest.TestReport) and report.when == "call":
                for title, line in report.user_properties:
                    lines[title].append(line)
    for title in sorted(lines):
        terminalreporter.section(title)
        for line in sorted(lines[title]):
            terminalreporter.line(line)
