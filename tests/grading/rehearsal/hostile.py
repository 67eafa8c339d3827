"""What somebody may hand in besides an answer: each takes a right notebook and spoils it, and says what it gets.

`spoil(notebook, target, wrong, port, marker)`: the notebook as JSON, the exercise that is attacked, a wrong answer to
it, a port of this machine at which somebody listens, and a file outside that must not be written.
"""

from collections.abc import Callable
from typing import NamedTuple

NOTEBOOK = dict
SPOILED = "spoiled"  # the attacked exercise gets nothing, the others their points
UNHARMED = "unharmed"  # everything gets its points
NOTHING = "nothing"
OUTSIDE = ("/etc/kvbook-was-here", "/usr/kvbook-was-here", "/var/tmp/kvbook-was-here", "../kvbook-was-here")


class Hostile(NamedTuple):
    """`gets` is SPOILED, UNHARMED or NOTHING; `says` is a part of the reason of the attacked exercise."""

    spoil: Callable[..., NOTEBOOK | bytes]
    gets: str
    says: str


def cell(notebook: NOTEBOOK, name: str) -> dict:
    [found] = [each for each in notebook["cells"] if each["id"] == name]
    return found


def answered(notebook: NOTEBOOK, target: str, source: str) -> NOTEBOOK:
    cell(notebook, f"answer-{target}")["source"] = source
    return notebook


def before(notebook: NOTEBOOK, target: str, source: str) -> NOTEBOOK:
    """The right answer with lines above it."""
    return answered(notebook, target, f"{source}\n\n{cell(notebook, f'answer-{target}')['source']}")


def after(notebook: NOTEBOOK, target: str, source: str) -> NOTEBOOK:
    return answered(notebook, target, f"{cell(notebook, f'answer-{target}')['source']}\n\n{source}")


def right_line(notebook: NOTEBOOK, target: str) -> str:
    return "".join(cell(notebook, f"check-{target}")["outputs"][0]["text"]).strip()


def check_edited(notebook, target, wrong, **_):
    cell(notebook, f"check-{target}")["source"] = f"print({right_line(notebook, target)!r})"
    return answered(notebook, target, wrong)


def checks_deleted(notebook, **_):
    notebook["cells"] = [each for each in notebook["cells"] if not each["id"].startswith("check-")]
    return notebook


def reordered(notebook, **_):
    notebook["cells"].reverse()
    return notebook


def ids_and_tags_lost(notebook, **_):
    for each in notebook["cells"]:
        each["metadata"] = {}
        del each["id"]
    return {**notebook, "nbformat_minor": 0, "metadata": {}}


def exits(notebook, target, **_):
    return before(notebook, target, "import sys\n\nsys.exit(0)")


def exits_hard(notebook, target, **_):
    return after(notebook, target, "import os\n\nos._exit(0)")


def endless(notebook, target, **_):
    source = "while True:\n    try:\n        while True:\n            pass\n    except BaseException:\n        pass"
    return before(notebook, target, source)


def hungry(notebook, target, **_):
    return before(notebook, target, "hoard = bytearray(30 * 10**9)")


def forks(notebook, target, **_):
    source = "import os\n\nwhile True:\n    try:\n        os.fork()\n    except OSError:\n        pass"
    return before(notebook, target, source)


def output_faked(notebook, target, wrong, **_):
    for each in notebook["cells"]:
        if each["cell_type"] == "code":
            each["outputs"] = [{"name": "stdout", "output_type": "stream", "text": right_line(notebook, target)}]
            each["execution_count"] = 1
    return answered(notebook, target, wrong)


def hidden_test_by_name(notebook, target, wrong, **_):
    source = (
        "import sys\n\n"
        "for module in list(vars(sys)['mod' + 'ules'].values()):\n"
        "    if getattr(module, '__name__', '').startswith('kvlib.grading.exercises'):\n"
        "        exec('module.observe = lambda *_: \"all laws hold: 1\"')\n"
        "        exec('module.check = lambda *_: \"right\"')\n"
        "get_ipython().input_transformers_post.append(lambda lines: ['print(1)'] if 'observe' in str(lines) else lines)"
    )
    return answered(notebook, target, f"{wrong}\n\n{source}")


def builtins_patched(notebook, target, wrong, **_):
    line = right_line(notebook, target)
    source = (
        "import builtins\n\n\n"
        "class Agrees:\n"
        "    def __eq__(self, other): return True\n"
        "    def __bool__(self): return True\n\n\n"
        f"builtins.print = lambda *_, **__: __import__('sys').stdout.write({line!r} + chr(10))\n"
        "builtins.AssertionError = Agrees"
    )
    return answered(notebook, target, f"{wrong}\n\n{source}")


def another_kernel(notebook, **_):
    kernel = {"kernelspec": {"name": "ir", "display_name": "R", "language": "R"}, "language_info": {"name": "R"}}
    return {**notebook, "metadata": {**notebook["metadata"], **kernel}}


def invalid_json(notebook, **_):
    return b'{"cells": [{"cell_type": "code", "source": "x = 1'


def floods(notebook, target, **_):
    return before(notebook, target, "for _ in range(500):\n    print('x' * 100_000)")


def writes_outside(notebook, target, marker, **_):
    source = (
        "from pathlib import Path\n\n"
        f"for place in {(str(marker), *OUTSIDE)!r}:\n"
        "    try:\n        Path(place).write_text('here')\n"
        "    except OSError:\n        pass"
    )
    return before(notebook, target, source)


def reads_solutions(notebook, target, wrong, **_):
    source = (
        "from pathlib import Path\n\n"
        "found = []\n"
        "for top in ('/', '/root', '/home', '/tmp', '/mnt', '/srv', '/opt', '..', '../..'):\n"
        "    try:\n"
        "        for folder in [Path(top), *Path(top).glob('*'), *Path(top).glob('*/*')]:\n"
        "            found += [*folder.glob('labs/*.md'), *folder.glob('*.part'), *folder.glob('*/work/*.json')]\n"
        "    except OSError:\n        pass\n"
        f"exec(open(found[0]).read() if found else {wrong!r})"
    )
    return answered(notebook, target, source)


def opens_a_socket(notebook, target, port, **_):
    source = (
        "import socket\n\n"
        "for host in ('127.0.0.1', 'localhost', socket.gethostname()):\n"
        "    try:\n"
        f"        socket.create_connection((host, {port}), timeout=1).sendall(b'here')\n"
        "    except OSError:\n        pass"
    )
    return before(notebook, target, source)


def imports_ours(notebook, target, **_):
    return before(notebook, target, "from kvlib.memory import BlockManager")


ALL = {
    "check-edited": Hostile(check_edited, SPOILED, "wrong: broke"),
    "checks-deleted": Hostile(checks_deleted, UNHARMED, "right"),
    "reordered": Hostile(reordered, UNHARMED, "right"),
    "ids-and-tags-lost": Hostile(ids_and_tags_lost, UNHARMED, "right"),
    "sys-exit": Hostile(exits, SPOILED, "SystemExit"),
    "os-exit": Hostile(exits_hard, SPOILED, "the kernel died"),
    "endless": Hostile(endless, SPOILED, "no end after"),
    "30-gigabytes": Hostile(hungry, SPOILED, "MemoryError"),
    "fork-bomb": Hostile(forks, SPOILED, ""),
    "output-faked": Hostile(output_faked, SPOILED, "wrong: broke"),
    "hidden-test-by-name": Hostile(hidden_test_by_name, SPOILED, ""),
    "builtins-patched": Hostile(builtins_patched, SPOILED, ""),
    "another-kernel": Hostile(another_kernel, UNHARMED, "right"),
    "invalid-json": Hostile(invalid_json, NOTHING, "is not readable as a notebook"),
    "50-megabytes": Hostile(floods, SPOILED, "was printed"),
    "writes-outside": Hostile(writes_outside, UNHARMED, "right"),
    "reads-solutions": Hostile(reads_solutions, SPOILED, "wrong: broke"),
    "opens-a-socket": Hostile(opens_a_socket, UNHARMED, "right"),
    "imports-ours": Hostile(imports_ours, SPOILED, "imports kvlib.memory"),
}
