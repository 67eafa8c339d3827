"""The front end of the widgets: the JavaScript modules and style sheets in `scripts/`, joined into one text.

A widget NAME is `export function renderNAME({ model, el })` in `scripts/NAME.js`, with a style sheet NAME.css. Its
modules import each other by name, one import a line, and export declarations only. So joining them is dropping these
lines and words, and the same code serves a notebook, which wants one module, and a page opened from a disk, where a
browser loads no modules.
"""

import re
from pathlib import Path

from kvlib.errors import BadInput

SCRIPTS = Path(__file__).parent / "scripts"
IMPORT = re.compile(r'^import \{ [\w, ]+ \} from "\./([\w-]+)\.js";$', re.MULTILINE)
EXPORT = re.compile(r"^export (?=(?:async )?(?:const|class|function)\b)", re.MULTILINE)
DECLARED = re.compile(r"^(?:async )?(?:const|let|class|function\*?) (\w+)", re.MULTILINE)
UNKNOWN = re.compile(r"^(?:import|export)\b.*", re.MULTILINE)


def joined(*names: str) -> str:
    """The modules `names` and all that they import, each once, after what it imports, without imports and exports.

    Raises BadInput for a module that is not there, an import or export of another form, or a name that two modules
    give to something of theirs.
    """
    texts: dict[str, str] = {}
    for name in names:
        _collect(name, texts, ())
    homes: dict[str, str] = {}
    for file, text in texts.items():
        for declared in DECLARED.findall(text):
            if homes.setdefault(declared, file) != file:
                raise BadInput(f"{homes[declared]}.js and {file}.js both declare {declared}; rename one of them")
    return "\n".join(texts.values())


def module(name: str) -> str:
    """The widget `name` as one ES module, which exports what anywidget asks for: `{ render }`."""
    return f"{joined(name)}\nexport default {{ render: {_renderer(name)} }};\n"


def script(*names: str) -> str:
    """The widgets `names` as one classic script, which shows each widget that a page holds (see `mount.js`)."""
    renderers = ", ".join(f"{name}: {_renderer(name)}" for name in names)
    return classic(f"mount({{ {renderers} }})", *names, "mount")


def classic(call: str, *names: str) -> str:
    """The modules `names` as one classic script, which ends with `call` and leaves no name of its own in the page."""
    return f'(() => {{\n"use strict";\n{joined(*names)}\n{call};\n}})();\n'


def styles(*names: str) -> str:
    """The style sheets of the widgets `names`, and of those that they import."""
    texts: dict[str, str] = {}
    for name in names:
        _collect(name, texts, ())
    return "\n".join(_read(f"{name}.css") for name in texts if (SCRIPTS / f"{name}.css").is_file())


def _collect(name: str, texts: dict[str, str], importing: tuple[str, ...]) -> None:
    if name in importing:
        raise BadInput(f"the scripts {' -> '.join([*importing, name])} import each other; let imports run one way")
    if name in texts:
        return
    source = _read(f"{name}.js")
    for imported in IMPORT.findall(source):
        _collect(imported, texts, (*importing, name))
    text = EXPORT.sub("", IMPORT.sub("", source))
    if found := UNKNOWN.search(text):
        raise BadInput(
            f'{name}.js has the line {found[0]!r}; write import {{ names }} from "./file.js"; and export before a '
            "const, class or function"
        )
    texts[name] = text.strip() + "\n"


def _renderer(name: str) -> str:
    return f"render{name[:1].upper()}{name[1:]}"


def _read(file: str) -> str:
    path = SCRIPTS / file
    if not path.is_file():
        raise BadInput(f"there is no {file} among the scripts; there are {sorted(it.name for it in SCRIPTS.iterdir())}")
    return path.read_text(encoding="utf-8")
