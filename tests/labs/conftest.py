"""A JupyterLab and a browser on it."""

import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from playwright.sync_api import expect

ROOT = Path(__file__).parents[2]
SCREENSHOTS = ROOT / "_build" / "screenshots"
SETTINGS = {
    "notebook-extension/tracker": {"windowingMode": "none"},  # all cells are in the page, wherever it is scrolled
    "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False, "doNotDisturbMode": True},
}
PATIENCE = 60  # seconds, for what takes a few where nothing else runs


def pytest_collection_modifyitems(items):
    """The tests of one lab come one after another, so that one lab at a time is in memory."""
    places = [place for place, item in enumerate(items) if item.path.name == "test_answers.py"]
    of_labs = sorted((items[place] for place in places), key=lab_of)
    for place, item in zip(places, of_labs):
        items[place] = item


def lab_of(item):
    return item.callspec.params.get("lab", "") if hasattr(item, "callspec") else ""


@pytest.fixture(scope="module")
def notebook():
    """The notebook that the tests of a module open: each module says which."""
    raise NotImplementedError


@pytest.fixture(scope="module")
def server(tmp_path_factory, notebook):
    """The address of a JupyterLab with the notebook, with nobody's settings, and without a token: it listens to
    this machine alone."""
    folder = tmp_path_factory.mktemp("lab")
    for name, settings in SETTINGS.items():
        file = folder / "settings" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(settings), encoding="utf-8")
    (folder / "notebooks").mkdir()
    shutil.copy(notebook, folder / "notebooks")
    places = {
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "IPYTHONDIR": "ipython",
    }
    environment = {name: value for name, value in os.environ.items() if name != "TRITON_INTERPRET"}
    environment |= {name: str(folder / place) for name, place in places.items()} | {"CUDA_VISIBLE_DEVICES": ""}
    options = ("--no-browser", "--allow-root", "--ip=127.0.0.1", "--port=0", "--IdentityProvider.token=",
               "--LabApp.expose_app_in_browser=True")  # fmt: skip
    root = f"--ServerApp.root_dir={folder / 'notebooks'}"
    with (folder / "log.txt").open("w") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *options, root], env=environment, stdout=log, stderr=log
        )
    try:
        yield _address(folder, process)
    finally:
        process.terminate()
        process.wait()


def _address(folder, process):
    """Where the server listens, which it writes into a file when it does."""
    until = time.monotonic() + PATIENCE
    while process.poll() is None and time.monotonic() < until:
        for file in (folder / "runtime").glob("jpserver-*.json"):
            text = file.read_text(encoding="utf-8")
            if text.endswith("}"):
                return json.loads(text)["url"]
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {(folder / 'log.txt').read_text(encoding='utf-8')}")


@pytest.fixture(scope="module")
def page(server, notebook, browser):
    """The notebook, all cells run. `complaints` are errors of the console."""
    page = browser.new_page(viewport={"width": 1280, "height": 1000})
    page.set_default_timeout(PATIENCE * 1000)
    page.complaints = []
    page.on("console", lambda message: message.type == "error" and page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(f"{server}doc/tree/{notebook.name}")
    page.wait_for_function("window.jupyterapp?.shell.currentWidget?.context?.sessionContext")
    page.evaluate("jupyterapp.shell.currentWidget.context.sessionContext.ready")
    page.evaluate("jupyterapp.commands.execute('notebook:run-all-cells')")
    yield page
    page.close()


@pytest.fixture(scope="module")
def change_theme(page):
    """Turns JupyterLab "Light" or "Dark" and waits until it is."""

    def change(theme):
        page.evaluate(f"jupyterapp.commands.execute('apputils:change-theme', {{theme: 'JupyterLab {theme}'}})")
        page.locator(f"body[data-jp-theme-name='JupyterLab {theme}']").wait_for(state="attached")
        expect(page.locator("#jupyterlab-splash")).to_have_count(0)

    return change


@pytest.fixture(scope="module")
def shoot():
    """Keeps a picture of a part of the page, to be looked at."""

    def keep(part, name):
        SCREENSHOTS.mkdir(parents=True, exist_ok=True)
        part.screenshot(path=SCREENSHOTS / f"{name}.png")

    return keep
