"""Sets up the book's environment and uses it: `python3 make.py book`, `python3 make.py test [pytest arguments]`.

`python3 make.py labs` makes the notebooks in labs/ from their texts, `python3 make.py pdf` the whole book as one PDF.
`python3 make.py lab` opens JupyterLab on a page that leads to the labs and the chapters.

Standard library only. Everything goes into .venv, which belongs to this file. The code keeps to what Python 3.6
can read, so that an old Python can still say which one to install.
"""

import functools
import hashlib
import mimetypes
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = str(BIN / "python")
HTML = ROOT / "_build" / "html"
PDF = ROOT / "_build" / "kvbook.pdf"
VERSIONS = ("3.13", "3.12", "3.11")
RUNNING = "{}.{}".format(*sys.version_info)

ENVIRONMENT = {
    **os.environ,
    "TQDM_DISABLE": "1",  # in a page a progress bar would be noise
    "JUPYTER_PREFER_ENV_PATH": "1",  # else a kernel of the same name in the home folder wins
    "IPYTHONDIR": str(VENV / "ipython"),  # else start-up files in the home folder run in every chapter
    "OMP_WAIT_POLICY": "passive",  # threads that wait leave the cores to others
    "HF_HUB_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "PYTHONUTF8": "1",
    "PIP_DISABLE_PIP_VERSION_CHECK": "1",
}

NO_PYTHON = f"""This needs Python 3.11, 3.12 or 3.13 with its venv module; this is Python {RUNNING}.
  Debian, Ubuntu:  sudo apt install python3 python3-venv
  elsewhere, or if that gives another version:  the installers at https://www.python.org/downloads
Then run the same command with the new one, for example: python3.13 make.py book"""

NOT_INSTALLED = """The installation did not finish. Run the same command again: it starts from an empty .venv.
  a connection failed or timed out:  check the network; pip reads HTTPS_PROXY and PIP_INDEX_URL
  no matching distribution, torch:   PyTorch has no build for this machine (an Intel Mac, a 32-bit system)
  no space left:                     3 GB are needed, 8 GB with PyTorch's CUDA build (README.md says more)
The whole log: {log}"""

NO_CHROMIUM = f"""The book is tested and printed in Chromium; none was found and none could be installed.
  Debian:          sudo apt-get install chromium
  Ubuntu, Fedora:  {PYTHON} -m playwright install --with-deps chromium
  macOS, Windows:  install Chrome, or: {PYTHON} -m playwright install chromium
  somewhere else:  set KVBOOK_CHROMIUM to its path"""


A_WORKER_A_CORE = ("--numprocesses", "logical", "--dist", "loadfile", "--no-loadscope-reorder")


def say(text):
    print(text, flush=True)


def run(*command, **options):
    return subprocess.run(command, cwd=str(ROOT), env=ENVIRONMENT, **options).returncode


def succeeds(*command):
    """Whether the command starts and exits with 0; nothing of it is shown."""
    try:
        return run(*command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) == 0
    except OSError:
        return False


def logged(command, log, progress):
    """Runs a command into a log file, saying only what `progress` makes of each line; returns its success."""
    log.parent.mkdir(exist_ok=True)
    output = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "encoding": "utf-8", "errors": "replace"}
    with log.open("w", encoding="utf-8", buffering=1) as file:
        process = subprocess.Popen(command, cwd=str(ROOT), env=ENVIRONMENT, **output)
        try:
            for coloured in process.stdout:
                line = re.sub(r"\x1b\[[\d;]*m", "", coloured)
                file.write(line)
                text = progress(line)
                if text:
                    say("  " + text)
            return process.wait() == 0
        finally:
            process.kill()


def find_python():
    """The command of a Python that can make the environment: the running one if it will do."""
    candidates = [[f"python{version}"] for version in VERSIONS]
    candidates += [["py", f"-{version}"] for version in VERSIONS]
    if RUNNING in VERSIONS:
        candidates.insert(0, [sys.executable])
    for candidate in candidates:
        if succeeds(*candidate, "-c", "import ensurepip, venv"):
            return candidate
    sys.exit(NO_PYTHON)


def model():
    """The package that holds the model, as kvlib names it; asked only where Python is new enough to read kvlib."""
    from kvlib.packaged import MODEL

    return MODEL


def wanted():
    """What a finished .venv was made for, in two lines: its Python and its place; what is installed in it."""
    lists = (ROOT / "requirements.txt").read_bytes() + (ROOT / "pyproject.toml").read_bytes()
    return f"{RUNNING} {ROOT}\n{model()} {hashlib.sha256(lists).hexdigest()}"


def install():
    """Makes .venv what `wanted` says. One that never got that far is made again from nothing."""
    stamp = VENV / "finished"
    finished = stamp.read_text(encoding="utf-8") if stamp.exists() else "never"
    if finished == wanted():
        return
    if finished.splitlines()[0] == wanted().splitlines()[0]:
        say("Bringing .venv up to date.")
        stamp.unlink()
    else:
        say(f"Making .venv with Python {RUNNING}, once: 2 to 10 minutes, most of them downloads.")
        if run(sys.executable, "-m", "venv", "--clear", str(VENV)) != 0:
            sys.exit("Python could not make .venv: see above.")
    pip("-r", "requirements.txt", log="packages.log")
    pip(
        "--no-deps", "--no-build-isolation", "-e", ".", model(), log="kvlib.log"
    )  # the model's own would compile llama.cpp
    stamp.write_text(wanted(), encoding="utf-8")


def pip(*arguments, log):
    command = [PYTHON, "-m", "pip", "install", "--no-input", "--progress-bar", "off", *arguments]
    if not logged(command, VENV / log, pip_progress):
        say("".join((VENV / log).read_text(encoding="utf-8").splitlines(True)[-15:]))
        sys.exit(NOT_INSTALLED.format(log=VENV / log))


def pip_progress(line):
    large = re.match(r"\s*Downloading ([^-]+)-\S+ \((\d\d+\.\d MB|[\d.]+ GB)\)", line)
    if large:
        return "downloading {} ({})".format(*large.groups())
    if line.startswith("Installing collected packages:") and line.count(",") > 20:
        return f"unpacking {line.count(',') + 1} packages: a minute or two"
    return None


def sources():
    """A digest of everything that the built book depends on."""
    digest = hashlib.sha256(wanted().encode())
    for pattern in ("_*.yml", "CITATION.cff", "book/**/*", "data/**/*", "kvlib/**/*", "labs/*.md", "labs/*.py"):
        for path in sorted(ROOT.glob(pattern)):
            if path.is_file() and not re.search(r"[\\/](\.|__pycache__)", str(path.relative_to(ROOT))):
                digest.update(str(path).encode() + path.read_bytes())
    return digest.hexdigest()


def build():
    """Builds the book from nothing: every chapter runs, and a warning is an error."""
    say("Building the book. Every chapter runs, for up to a minute each.")
    shutil.rmtree(str(HTML), ignore_errors=True)
    built_from, log = sources(), HTML.parent / "build.log"
    command = [str(BIN / "jupyter-book"), "build", ".", "--all", "-W", "--keep-going", "-n"]
    if not logged(command, log, build_progress):
        noise = re.compile(r"\[IPKernelApp\] WARNING|(reading sources|writing output)\.\.\. \[")
        say("".join(line for line in log.open(encoding="utf-8") if not noise.match(line)))
        for report in sorted(HTML.rglob("*.err.log")):
            say(f"{report}\n{report.read_text(encoding='utf-8')}")
        sys.exit("The book was not built: the warnings and errors above say why.")
    (HTML / ".built-from").write_text(built_from, encoding="utf-8")


def build_progress(line):
    page = re.match(r"(.+): Executed notebook in ([\d.]+) seconds", line)
    return f"{os.path.relpath(page.group(1), str(ROOT))} ran in {page.group(2)} s" if page else None


def is_built():
    stamp = HTML / ".built-from"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == sources()


def server(folder, first_port):
    """A web server for this machine alone, on the first free port from `first_port` on."""
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

    for ending in (".js", ".mjs"):
        mimetypes.add_type("text/javascript", ending)  # some Windows programs register another type

    class Pages(SimpleHTTPRequestHandler):
        def log_message(self, *_):
            pass

    class Server(ThreadingHTTPServer):
        allow_reuse_address = os.name != "nt"  # Windows would share a port that is taken

        def handle_error(self, *_):
            pass  # a browser that leaves a page hangs up in the middle of a file

    for port in range(first_port, first_port + 50):
        try:
            return Server(("127.0.0.1", port), functools.partial(Pages, directory=str(folder)))
        except OSError:
            continue
    sys.exit(f"No port is free from {first_port} to {first_port + 49}.")


def serve():
    with server(HTML, 8000) as pages:
        say(f"Read the book at http://127.0.0.1:{pages.server_port} (Ctrl-C stops).")
        try:
            pages.serve_forever()
        except KeyboardInterrupt:
            say("\nStopped.")


def starts(path):
    """Whether a browser starts: on Ubuntu chromium-browser may be a script that only speaks of snap."""
    return bool(shutil.which(path)) and (os.name == "nt" or succeeds(path, "--version"))


def find_chromium():
    """The path of a Chromium that starts, or None."""
    given = os.environ.get("KVBOOK_CHROMIUM")
    if given:
        return given if starts(given) else sys.exit(f"KVBOOK_CHROMIUM is {given!r}, which does not start.")
    own = "from playwright.sync_api import sync_playwright as p\nwith p() as w: print(w.chromium.executable_path)"
    places = [
        *("chromium", "chromium-browser", "google-chrome", "google-chrome-stable"),
        "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
        os.path.join(os.environ.get("PROGRAMFILES", ""), "Google", "Chrome", "Application", "chrome.exe"),
        subprocess.run([PYTHON, "-c", own], stdout=subprocess.PIPE, encoding="utf-8").stdout.strip(),
    ]
    return next((shutil.which(place) for place in places if starts(place)), None)


def get_chromium():
    """The path of a Chromium, installed if there is none."""
    found = find_chromium()
    if not found:
        say("No Chromium here: asking Playwright for one, about 150 MB.")
        succeeds(PYTHON, "-m", "playwright", "install", "chromium")
        found = find_chromium()
    if not found and shutil.which("apt-get") and os.geteuid() == 0:
        say("Playwright had none that starts here: installing Debian's package.")
        succeeds("apt-get", "update")
        succeeds("apt-get", "install", "-y", "chromium")
        found = find_chromium()
    return found or sys.exit(NO_CHROMIUM)


def test(*arguments):
    """Runs every check, then the tests; returns 0 if all of them pass."""
    checks = {"ruff check": ["."], "ruff format": ["--check", "."], "mypy": []}
    failed = []
    for name, options in checks.items():
        say(f"Checking with {name}.")
        if run(PYTHON, "-m", *name.split(), *options) != 0:
            failed.append(name)
    if not is_built():
        build()
    ENVIRONMENT["KVBOOK_CHROMIUM"] = get_chromium()
    say("Running every test.")
    if run(PYTHON, "-m", "pytest", *A_WORKER_A_CORE, *arguments) != 0:
        failed.append("pytest")
    say(f"Failed: {', '.join(failed)}. What is wrong stands above." if failed else "Everything passed.")
    return len(failed)


def write_labs():
    """Makes each lab's notebook from its text; returns 0 if all of them could be made."""
    return run(PYTHON, "-m", "kvlib.grading.notebooks", "labs")


def print_pdf():
    """Prints the built book, made first if it is not there, into one PDF; returns 0 if that could be done."""
    if not is_built():
        build()
    say("Printing every page of the book, about a second each, and joining them: one or two minutes.")
    return run(PYTHON, str(ROOT / "book" / "pdf.py"), str(HTML), str(PDF), get_chromium())


def open_lab():
    """Opens JupyterLab on its page of labs and chapters; returns when it is stopped. Its settings lie in .venv."""
    settings = VENV / "jupyter"
    if run(PYTHON, str(ROOT / "book" / "launcher.py"), str(ROOT), str(settings)) != 0:
        return 1
    ENVIRONMENT["JUPYTER_CONFIG_DIR"] = str(settings)
    is_root = os.name != "nt" and os.geteuid() == 0  # in a container, say; JupyterLab starts there only if told to
    return run(PYTHON, "-m", "jupyterlab", "start.ipynb", *["--allow-root"] * is_root)


def main(command="", *arguments):
    if command not in ("book", "test", "labs", "pdf", "lab") or (command != "test" and arguments):
        sys.exit(__doc__)
    python, start = find_python(), time.monotonic()
    if python != [sys.executable]:
        return subprocess.call([*python, __file__, command, *arguments])
    install()
    commands = {"book": build, "test": test, "labs": write_labs, "pdf": print_pdf, "lab": open_lab}
    code = commands[command](*arguments)
    say("Took {:.0f} min {:.0f} s.".format(*divmod(time.monotonic() - start, 60)))
    if command == "book" and os.environ.get("SERVE") != "0":
        serve()
    return code


if __name__ == "__main__":
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit("\nStopped.")
