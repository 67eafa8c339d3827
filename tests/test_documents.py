"""What stands beside the code for those who come to it: files that are named exist, and versions agree."""

import re
import tomllib
from pathlib import Path

import pytest
import yaml

import kvlib

ROOT = Path(__file__).parent.parent
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
TEMPLATES = sorted(path for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if path.stem != "config")
MADE_UP = {"book/15-your-name.md", "labs/13-your-name.md", "tests/labs/answers/13-your-name.md"}


def test_every_file_that_contributing_names_is_there():
    named = set(re.findall(r"`((?:book|data|kvlib|labs|tests)/[^`\s]*|\w+\.(?:yml|toml|json))`", CONTRIBUTING))
    assert len(named) > 20
    assert [name for name in sorted(named - MADE_UP) if not (ROOT / name).exists()] == []


def test_every_name_in_code_that_contributing_names_is_there():
    text = "".join(path.read_text(encoding="utf-8") for path in ROOT.glob("[kt]*/**/*.py"))
    names = {
        "BACKENDS",
        "QUANTISED_BACKENDS",
        "folded",
        "check_backend",
        "best_backend",
        "store_of",
        "copy_of",
        "sums",
        "EXERCISES",
        "Case",
    }
    for name in names:
        assert f"`{name}`" in CONTRIBUTING or f"`{name}(" in CONTRIBUTING
        assert re.search(rf"^(?:def|class) {name}\b|^{name}\b.* =", text, re.MULTILINE), name


def test_the_version_is_the_same_wherever_it_stands():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    newest = re.search(r"^## (\S+)", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)[1]
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text(encoding="utf-8"))["version"]
    assert {version, newest, cited, kvlib.__version__} == {version}


def test_there_is_a_form_for_code_book_and_grading():
    assert [path.stem for path in TEMPLATES] == ["book", "bug", "grading"]


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: path.stem)
def test_a_form_has_what_github_asks_for(template):
    form = yaml.safe_load(template.read_text(encoding="utf-8"))
    assert all(form[key] for key in ("name", "description"))
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert {field["type"] for field in fields} <= {"input", "textarea", "dropdown", "checkboxes"}
    assert len({field["id"] for field in fields}) == len(fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert any(field.get("validations", {}).get("required") for field in fields)
