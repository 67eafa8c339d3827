"""make.py: what it installs, that it mends what was left half done, and what it says when it cannot go on."""

import ast
import importlib.metadata
import importlib.util
import re
import socket
import sys
import threading
import tomllib
import urllib.request
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LINES = (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines()
PINS = {canonicalize_name(pin.name): pin for pin in (Requirement(line) for line in LINES if line[:1] not in ("", "#"))}
EXTRAS = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
ASKED_FOR = sorted({each for group in EXTRAS.values() for each in group if not each.startswith("kvlib[")})


def load():
    spec = importlib.util.spec_from_file_location("make", ROOT / "make.py")
    make = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(make)
    return make


@pytest.fixture
def make(tmp_path, monkeypatch):
    """make.py at work in an empty project of its own."""
    make = load()
    for name, place in {"ROOT": ".", "VENV": ".venv", "HTML": "_build/html"}.items():
        monkeypatch.setattr(make, name, tmp_path / place)
    for name in ("requirements.txt", "pyproject.toml", "_config.yml", "_toc.yml"):
        (tmp_path / name).write_text(f"{name}\n")
    for folder in ("book", "data", "kvlib"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "file").write_text(folder)
    make.HTML.mkdir(parents=True)
    return make


@pytest.fixture
def steps(make, monkeypatch):
    """The steps of an installation, replaced by a note that they were taken; `stop_at` breaks off before one."""

    class Steps(list):
        stop_at = None

        def take(self, step):
            if len(self) == self.stop_at:
                raise KeyboardInterrupt
            self.append(step)

    def run(*command):
        taken.take("venv")
        make.VENV.mkdir(exist_ok=True)
        for file in make.VENV.iterdir():
            file.unlink()
        return 0

    taken = Steps()
    monkeypatch.setattr(make, "run", run)
    monkeypatch.setattr(make, "pip", lambda *arguments, log: taken.take("pip " + " ".join(arguments)))
    return taken


def test_every_requirement_is_an_exact_pin_but_triton():
    assert [name for name, pin in PINS.items() if not re.fullmatch(r"==[^*,]+", str(pin.specifier))] == ["triton"]


@pytest.mark.parametrize("asked_for", ASKED_FOR)
def test_what_pyproject_asks_for_is_pinned_to_a_version_that_it_allows(asked_for):
    asked_for, pin = Requirement(asked_for), PINS[canonicalize_name(Requirement(asked_for).name)]
    if asked_for.name == "triton":
        assert pin.specifier == asked_for.specifier
    else:
        assert asked_for.specifier.contains(str(pin.specifier).removeprefix("=="))


def test_what_the_code_imports_is_pinned():
    folders = ("book", "data", "kvlib", "tests")
    trees = [ast.parse(path.read_text(encoding="utf-8")) for name in folders for path in ROOT.glob(f"{name}/**/*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree)]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and not node.level}
    own = {"kvlib", *(path.stem for path in ROOT.glob("book/ext/*.py"))}
    packages = {name.partition(".")[0] for name in names} - sys.stdlib_module_names - own
    distributions = importlib.metadata.packages_distributions()
    assert {canonicalize_name(distributions[package][0]) for package in packages} <= set(PINS)


@pytest.mark.parametrize("version", ["3.7.1", "3.6.0", "3.9.0"])
def test_the_range_of_triton_admits_the_pins_of_torch_and_colab_and_the_newest(version):
    assert PINS["triton"].specifier.contains(version)  # torch 2.13.0 for CUDA pins 3.7.1, Colab has 3.6.0


def test_an_old_python_can_read_make_py_and_so_say_which_one_to_install():
    source = (ROOT / "make.py").read_text(encoding="utf-8")
    ast.parse(source, feature_version=(3, 7))
    assert "from __future__" not in source  # 3.6 has no future annotations


@pytest.mark.parametrize("caller", [".ci/run", ".github/workflows/test.yml"])
def test_ci_calls_the_command_that_readers_use(caller):
    assert re.search(r"^(make|\s+- run: make) test$", (ROOT / caller).read_text(encoding="utf-8"), re.MULTILINE)


def test_an_installation_makes_the_environment_then_the_packages_then_kvlib_with_the_model_alone(make, steps):
    make.install()
    assert steps[0] == "venv"
    assert steps[1] == "pip -r requirements.txt"
    assert steps[2] == f"pip --no-deps --no-build-isolation -e . {make.model()}"


def test_a_finished_installation_is_left_alone(make, steps):
    make.install()
    del steps[:]
    make.install()
    assert steps == []


@pytest.mark.parametrize("stop_at", [0, 1, 2])
def test_an_installation_that_was_broken_off_starts_again_from_nothing(make, steps, stop_at):
    steps.stop_at = stop_at
    with pytest.raises(KeyboardInterrupt):
        make.install()
    del steps[:]
    steps.stop_at = None
    make.install()
    assert len(steps) == 3
    make.install()
    assert len(steps) == 3


@pytest.mark.parametrize("file", ["requirements.txt", "pyproject.toml"])
def test_a_changed_list_is_installed_into_the_same_environment(make, steps, file):
    make.install()
    (make.ROOT / file).write_text("changed")
    del steps[:]
    make.install()
    assert [step.split()[0] for step in steps] == ["pip", "pip"]


def test_an_update_that_was_broken_off_starts_again_from_nothing(make, steps):
    make.install()
    (make.ROOT / "requirements.txt").write_text("changed")
    steps.stop_at = len(steps) + 1
    with pytest.raises(KeyboardInterrupt):
        make.install()
    del steps[:]
    steps.stop_at = None
    make.install()
    assert steps[0] == "venv"


@pytest.mark.parametrize("change", ["RUNNING", "ROOT"])
def test_another_python_or_another_place_needs_a_new_environment(make, steps, monkeypatch, tmp_path, change):
    make.install()
    del steps[:]
    if change == "RUNNING":
        monkeypatch.setattr(make, "RUNNING", "3.0")
    else:
        moved = tmp_path.with_name("moved")
        tmp_path.rename(moved)
        monkeypatch.setattr(make, "ROOT", moved)
        monkeypatch.setattr(make, "VENV", moved / ".venv")
    make.install()
    assert steps[0] == "venv"


def test_a_failing_pip_shows_the_end_of_its_log_and_what_to_do(make, monkeypatch, capsys):
    def pip_fails(command, log, progress):
        log.parent.mkdir()
        log.write_text("\n".join(["an early line", *map(str, range(15)), "ERROR: No space left on device"]))
        return False

    monkeypatch.setattr(make, "logged", pip_fails)
    with pytest.raises(SystemExit) as stop:
        make.pip("-r", "requirements.txt", log="packages.log")
    shown = capsys.readouterr().out
    assert "ERROR: No space left on device" in shown
    assert "an early line" not in shown
    assert "Run the same command again" in str(stop.value)
    assert str(make.VENV / "packages.log") in str(stop.value)


def test_a_command_is_logged_whole_and_only_its_progress_is_said(make, tmp_path, capsys):
    program = "print('Downloading torch-2.13.0-cp311.whl (191.8 MB)'); print('noise'); raise SystemExit(3)"
    assert not make.logged([sys.executable, "-c", program], tmp_path / "log", make.pip_progress)
    assert capsys.readouterr().out == "  downloading torch (191.8 MB)\n"
    assert "noise" in (tmp_path / "log").read_text()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            "  Downloading torch-2.13.0-cp313-cp313-manylinux_2_28_x86_64.whl (526.6 MB)\n",
            "downloading torch (526.6 MB)",
        ),
        ("  Downloading nvidia_cudnn_cu13-9.20-py3.whl (1.2 GB)\n", "downloading nvidia_cudnn_cu13 (1.2 GB)"),
        ("  Downloading six-1.17.0-py2.py3-none-any.whl (11 kB)\n", None),
    ],
)
def test_only_large_downloads_are_told_of(make, line, said):
    assert make.pip_progress(line) == said


def test_an_unsuitable_python_finds_another_one(make, monkeypatch):
    monkeypatch.setattr(make, "RUNNING", "3.14")
    monkeypatch.setattr(make, "succeeds", lambda *command: command[0] == "python3.12")
    assert make.find_python() == ["python3.12"]


def test_a_suitable_python_without_its_venv_module_finds_another_one(make, monkeypatch):
    monkeypatch.setattr(make, "RUNNING", "3.11")
    monkeypatch.setattr(make, "succeeds", lambda *command: command[0] == "python3.13")
    assert make.find_python() == ["python3.13"]


def test_where_there_is_no_python_it_says_what_to_install(make, monkeypatch):
    monkeypatch.setattr(make, "succeeds", lambda *command: False)
    with pytest.raises(SystemExit, match=r"3\.11, 3\.12 or 3\.13"):
        make.find_python()


def test_a_failing_build_shows_its_warnings_and_tracebacks_without_the_noise(make, monkeypatch, capsys):
    def build_fails(command, log, progress):
        report = make.HTML / "reports" / "ch02.err.log"
        report.parent.mkdir(parents=True)
        report.write_text("ValueError: planted")
        log.write_text(
            "reading sources... [ 50%] ch02\n[IPKernelApp] WARNING | TCP\nch02.md: WARNING: Executing failed\n"
        )
        return False

    monkeypatch.setattr(make, "logged", build_fails)
    with pytest.raises(SystemExit, match="not built"):
        make.build()
    shown = capsys.readouterr().out
    assert "ch02.md: WARNING: Executing failed" in shown
    assert "ValueError: planted" in shown
    assert "IPKernelApp" not in shown
    assert "reading sources" not in shown
    assert not make.is_built()


@pytest.mark.parametrize(
    ("changed", "still_built"),
    [
        ("book/file", False),
        ("kvlib/file", False),
        ("data/file", False),
        ("labs/01-lab.md", False),
        ("_toc.yml", False),
        ("CITATION.cff", False),
        ("requirements.txt", False),
        ("book/.ipynb_checkpoints/file", True),
        ("kvlib/__pycache__/file", True),
        ("labs/01-lab.ipynb", True),
        ("README.md", True),
    ],
)
def test_a_built_book_is_built_again_when_something_it_depends_on_changed(make, monkeypatch, changed, still_built):
    def builds(command, log, progress):
        make.HTML.mkdir(parents=True)
        return True

    monkeypatch.setattr(make, "logged", builds)
    make.build()
    assert make.is_built()
    (make.ROOT / changed).parent.mkdir(exist_ok=True)
    (make.ROOT / changed).write_text("changed")
    assert make.is_built() is still_built


def test_a_taken_port_is_passed_over_and_pages_are_served_to_this_machine_alone(make):
    (make.HTML / "page.html").write_text("a page")
    (make.HTML / "machine.mjs").write_text("export default 1")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with make.server(make.HTML, taken.getsockname()[1]) as server:
            threading.Thread(target=server.serve_forever, daemon=True).start()
            assert server.server_address[0] == "127.0.0.1"
            assert server.server_port > taken.getsockname()[1]
            for name, kind in {"page.html": "text/html", "machine.mjs": "text/javascript"}.items():
                with urllib.request.urlopen(f"http://127.0.0.1:{server.server_port}/{name}") as answer:
                    assert answer.read() == (make.HTML / name).read_bytes()
                    assert answer.headers["Content-Type"].startswith(kind)
            server.shutdown()


@pytest.fixture
def browsers(make, monkeypatch):
    """The browsers that start; no other program does anything."""
    present, tried = set(), []
    monkeypatch.delenv("KVBOOK_CHROMIUM", raising=False)
    monkeypatch.setattr(make, "PYTHON", sys.executable)
    monkeypatch.setattr(make, "starts", lambda path: path in present)
    monkeypatch.setattr(make.shutil, "which", lambda path: path)
    monkeypatch.setattr(make, "succeeds", lambda *command: tried.append(" ".join(command)))
    return present, tried


def test_the_first_browser_that_starts_is_taken(make, browsers):
    browsers[0].update({"chromium-browser", "google-chrome"})
    assert make.get_chromium() == "chromium-browser"
    assert browsers[1] == []


def test_the_browser_that_is_named_is_taken_before_any_other(make, browsers, monkeypatch):
    browsers[0].update({"chromium", "/opt/mine"})
    monkeypatch.setenv("KVBOOK_CHROMIUM", "/opt/mine")
    assert make.get_chromium() == "/opt/mine"


def test_a_named_browser_that_does_not_start_is_an_error(make, browsers, monkeypatch):
    browsers[0].add("chromium")
    monkeypatch.setenv("KVBOOK_CHROMIUM", "/opt/none")
    with pytest.raises(SystemExit, match="/opt/none"):
        make.get_chromium()


def test_without_a_browser_it_asks_playwright_then_debian_as_root_then_the_reader(make, browsers, monkeypatch):
    monkeypatch.setattr(make.os, "geteuid", lambda: 0, raising=False)
    with pytest.raises(SystemExit, match="KVBOOK_CHROMIUM"):
        make.get_chromium()
    assert [re.sub(r".*-m ", "", command) for command in browsers[1]] == [
        "playwright install chromium",
        "apt-get update",
        "apt-get install -y chromium",
    ]


def test_who_is_not_root_is_not_asked_for_a_password(make, browsers, monkeypatch):
    monkeypatch.setattr(make.os, "geteuid", lambda: 1000, raising=False)
    with pytest.raises(SystemExit, match="sudo apt-get install chromium"):
        make.get_chromium()
    assert len(browsers[1]) == 1


@pytest.mark.parametrize("arguments", [[], ["books"], ["book", "-k", "sizing"], ["labs", "08"]])
def test_an_unknown_command_gets_the_usage(make, arguments):
    with pytest.raises(SystemExit, match=r"python3 make\.py book"):
        make.main(*arguments)


def test_extra_arguments_go_to_pytest_and_every_failure_is_counted(make, monkeypatch):
    commands = []

    def only_mypy_passes(*command):
        commands.append(command)
        return int("mypy" not in command)

    monkeypatch.setattr(make, "is_built", lambda: True)
    monkeypatch.setattr(make, "get_chromium", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(make, "run", only_mypy_passes)
    assert make.test("-k", "sizing") == 3
    assert commands[-1][2] == "pytest"
    assert commands[-1][-2:] == ("-k", "sizing")
    assert make.ENVIRONMENT["KVBOOK_CHROMIUM"] == "/usr/bin/chromium"


@pytest.mark.parametrize("built", [True, False])
def test_the_pdf_is_printed_from_the_built_book_which_is_built_only_if_it_has_to_be(make, monkeypatch, built):
    done = []
    monkeypatch.setattr(make, "is_built", lambda: built)
    monkeypatch.setattr(make, "build", lambda: done.append("build"))
    monkeypatch.setattr(make, "get_chromium", lambda: "/usr/bin/chromium")
    monkeypatch.setattr(make, "run", lambda *command: done.append(command[1:]) or 0)
    assert make.print_pdf() == 0
    printing = (str(make.ROOT / "book" / "pdf.py"), str(make.HTML), str(make.PDF), "/usr/bin/chromium")
    assert done == ([] if built else ["build"]) + [printing]


@pytest.mark.parametrize("user", [0, 1000])
@pytest.mark.parametrize("written", [True, False])
def test_jupyterlab_opens_on_its_page_with_settings_of_its_own(make, monkeypatch, written, user):
    done = []
    monkeypatch.setattr(make.os, "geteuid", lambda: user, raising=False)
    monkeypatch.setattr(make, "run", lambda *command: done.append(command[1:]) or int(not written))
    monkeypatch.setitem(make.ENVIRONMENT, "JUPYTER_CONFIG_DIR", "the user's own")
    assert make.open_lab() == int(not written)
    assert done[0][1:] == (str(make.ROOT), str(make.VENV / "jupyter"))
    command = ("-m", "jupyterlab", "start.ipynb", *["--allow-root"] * (user == 0))
    assert done[1:] == ([command] if written else [])
    assert not written or make.ENVIRONMENT["JUPYTER_CONFIG_DIR"] == str(make.VENV / "jupyter")
