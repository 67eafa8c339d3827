"""The page on measuring: its commands exist, with the options it gives them, and so do the files it writes over."""

import re
import shlex
from pathlib import Path

import pytest

from kvlib import cli, ledger

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "book" / "measured.md").read_text(encoding="utf-8")
COMMANDS = sorted(set(re.findall(r"`(kvlib [^`]+)`", TEXT)))
MEASUREMENTS = {path.name for path in (ROOT / "data" / "measurements").glob("*.json")}


def helped(words: list[str], capsys: pytest.CaptureFixture) -> str:
    with pytest.raises(SystemExit) as end:
        cli.main([*words, "--help"])
    assert end.value.code == 0
    return capsys.readouterr().out


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_exists_and_takes_its_options(command: str, capsys: pytest.CaptureFixture) -> None:
    _, *words = shlex.split(command)
    options = [word for word in words if word.startswith("--")]
    names = words[: words.index(options[0])] if options else words
    help_ = helped(names, capsys)
    assert [option for option in options if option not in help_] == []


def test_every_measurement_has_its_command(capsys: pytest.CaptureFixture) -> None:
    measurements = helped(["bench"], capsys).partition("measurements:")[2]
    names = re.findall(r"^ {4}([a-z]+)", measurements, re.MULTILINE)
    assert len(names) >= 5
    assert [name for name in names if f"`kvlib bench {name}" not in TEXT] == []


def test_a_file_that_a_command_writes_is_there_or_yours() -> None:
    written = re.findall(r"data/measurements/([\w-]+\.json)", TEXT)
    assert written
    assert [name for name in written if name not in MEASUREMENTS and not name.endswith("-mine.json")] == []


def test_each_standing_of_the_ledger_is_explained() -> None:
    assert [status for status in ledger.STATUSES if f"- *{status.capitalize()}*:" not in TEXT] == []
