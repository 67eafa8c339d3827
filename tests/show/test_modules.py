import gzip
import re

import pytest

from kvlib.errors import BadInput
from kvlib.show import modules


@pytest.mark.parametrize("names", [("machine",), ("bench", "machine")])
def test_what_a_page_loads_for_a_widget_is_small(names):
    text = modules.script(*names) + modules.styles(*names)
    assert len(gzip.compress(text.encode())) <= 60_000


@pytest.fixture
def scripts(tmp_path, monkeypatch):
    monkeypatch.setattr(modules, "SCRIPTS", tmp_path)

    def write(**files):
        for name, text in files.items():
            (tmp_path / name.replace("_", ".")).write_text(text, encoding="utf-8")

    write(
        pump_js='import { a, b } from "./parts.js";\nimport { c } from "./more.js";\nexport const renderPump = 1;\n',
        parts_js='import { c } from "./more.js";\nexport const a = c;\nexport function b() {}\n',
        more_js="const inner = 3;\nexport const c = inner;\n",
        mount_js="export const mount = 0;\n",
        pump_css=".pump {}\n",
        more_css=".more {}\n",
    )
    return write


def test_a_module_comes_once_after_what_it_imports_without_imports_and_exports(scripts):
    assert re.findall(r"^\S.*", modules.joined("pump"), re.MULTILINE) == [
        "const inner = 3;",
        "const c = inner;",
        "const a = c;",
        "function b() {}",
        "const renderPump = 1;",
    ]


def test_a_notebook_gets_one_module_and_a_page_one_script_of_the_same_code(scripts):
    code = modules.joined("pump")
    assert modules.module("pump").startswith(code)
    assert modules.module("pump").count("export") == 1
    assert code in modules.script("pump")
    assert "mount({ pump: renderPump });" in modules.script("pump")


def test_styles_are_those_of_the_widget_and_of_what_it_imports(scripts):
    assert modules.styles("pump").split() == [".more", "{}", ".pump", "{}"]


@pytest.mark.parametrize(
    ("files", "words"),
    [
        ({"more_js": 'import { a } from "./pump.js";\n'}, "pump -> parts -> more -> pump"),
        ({"more_js": 'import def from "./x.js";\n'}, "import def from"),
        ({"more_js": "export default 3;\n"}, "export default 3"),
        ({"more_js": "export { x };\n"}, "export { x }"),
        ({"more_js": "function a() {}\n"}, "more.js and parts.js both declare a; rename one"),
        ({"more_js": 'import { x } from "./lost.js";\n'}, "there is no lost.js among the scripts"),
    ],
)
def test_what_cannot_be_joined_is_refused_by_its_line(scripts, files, words):
    scripts(**files)
    with pytest.raises(BadInput, match=re.escape(words)):
        modules.joined("pump")
