"""The workflows: nothing is published that was not tested, by the commands that readers use."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]
WORKFLOWS = {path.stem: yaml.safe_load(path.read_text()) for path in (ROOT / ".github" / "workflows").glob("*.yml")}
JOBS = WORKFLOWS["publish"]["jobs"]


def runs(job: dict) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


def test_pages_and_releases_wait_for_the_book_and_the_book_for_every_test() -> None:
    assert JOBS["test"]["uses"] == "./.github/workflows/test.yml"
    assert JOBS["book"]["needs"] == "test"
    assert JOBS["pages"]["needs"] == JOBS["release"]["needs"] == "book"


def test_every_week_all_is_tested_from_nothing() -> None:
    assert WORKFLOWS["test"][True]["schedule"]  # YAML 1.1 reads the key `on` as true
    assert "cache" not in str(WORKFLOWS["test"]["jobs"])


def test_the_book_and_its_pdf_are_made_by_the_commands_that_readers_use_and_nobody_waits_for_a_server() -> None:
    assert [line for line in runs(JOBS["book"]) if line.startswith("make")] == ["make book", "make pdf"]
    assert [step["env"]["SERVE"] for step in JOBS["book"]["steps"] if "env" in step] == ["0"]


def test_what_is_uploaded_is_what_make_makes() -> None:
    paths = [step["with"]["path"] for step in JOBS["book"]["steps"] if "path" in step.get("with", {})]
    assert paths == ["_build/html", "_build/kvbook.pdf"]
    text = (ROOT / "make.py").read_text(encoding="utf-8")
    assert '"_build" / "html"' in text
    assert '"_build" / "kvbook.pdf"' in text


def test_only_main_is_published_and_only_a_tag_makes_a_release_and_neither_has_more_rights_than_it_needs() -> None:
    assert JOBS["pages"]["if"] == "github.ref == 'refs/heads/main'"
    assert JOBS["release"]["if"] == "startsWith(github.ref, 'refs/tags/v')"
    assert WORKFLOWS["publish"]["permissions"] == {"contents": "read"}
    assert JOBS["pages"]["permissions"] == {"pages": "write", "id-token": "write"}
    assert JOBS["release"]["permissions"] == {"contents": "write"}
