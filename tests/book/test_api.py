"""The reference of kvlib lists every public name, from its docstring, with nothing of kvlib imported."""

import ast
import importlib
import re
from html import unescape
from pathlib import Path

import pytest

from kvlib.show.imports import sources

from . import small_build

BOOK = Path(__file__).parents[2] / "book"
PAGES = sorted(BOOK.glob("api-*.md"))
LISTS = re.compile(r"^```\{api\} (\S+)\n(?::without: (\S+)\n)?```$", re.MULTILINE)


@pytest.fixture
def extension(monkeypatch):
    monkeypatch.syspath_prepend(BOOK / "ext")
    return importlib.import_module("api")


@pytest.fixture
def shown(extension):
    """What a docstring becomes, as docutils writes a tree down."""
    return lambda text: "".join(map(str, importlib.import_module("docstrings").docstring(text)))


def test_each_module_stands_on_one_page(extension):
    listed = [
        name
        for page in PAGES
        for package, without in LISTS.findall(page.read_text())
        for name in extension.modules(package, without)
    ]
    expected = {name for name in sources() if "__" not in name and not name.startswith("kvlib.grading.exercises")}
    assert sorted(listed) == sorted(expected)


BLOCKED = """
class Nothing:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in ("torch", "triton", "numpy", "matplotlib"):
            raise ImportError(f"{name} is blocked")

sys.meta_path.insert(0, Nothing)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """The folder of all pages of the reference, built where torch, Triton and the like are missing."""
    folder = tmp_path_factory.mktemp("api")
    names = "\n".join(page.stem for page in PAGES)
    pages = {
        "index.md": f"# Index\n\n```{{toctree}}\n{names}\n```\n",
        **{page.name: page.read_text() for page in PAGES},
    }
    done = small_build.build(folder, "api", pages, "-n", first=BLOCKED)
    assert done.stderr == ""
    return folder / "out"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_each_public_class_function_and_method_has_its_place_and_its_words(built, extension, page):
    html = (built / f"{page.stem}.html").read_text(encoding="utf-8")
    anchors = set(re.findall(r'<dt [^>]*id="([^"]+)"', html))
    for package, without in LISTS.findall(page.read_text()):
        for name in extension.modules(package, without):
            tree = ast.parse(sources()[name])
            for node in extension.public(tree.body):
                members = extension.public(node.body) if isinstance(node, ast.ClassDef) else ()
                for full in [f"{name}.{node.name}", *(f"{name}.{node.name}.{member.name}" for member in members)]:
                    assert full in anchors
    inside = set(re.findall(r'href="#([^"]+)"', html))
    assert inside <= set(re.findall(r'id="([^"]+)"', html))


@pytest.mark.parametrize(
    ("name", "signature"),
    [
        ("memory.pool.BlockPool", "class BlockPool(num_blocks: int)"),
        ("memory.pool.BlockPool.take", "take(count: int) → list[int]"),
        ("engine.beam_params.BeamSearchParams", "class BeamSearchParams(beam_width: int,"),
        ("sizing.ModelSpec.attention", "property attention → str"),
        ("sizing.ModelSpec.from_file", "classmethod from_file(path: str | Path) → Self"),
    ],
)
def test_a_signature_says_what_a_call_takes_and_gives(built, name, signature):
    html = (built / f"api-{name.split('.')[0].replace('sizing', 'modules')}.html").read_text(encoding="utf-8")
    (entry,) = re.findall(rf'<dt [^>]*id="kvlib\.{re.escape(name)}">(.*?)</dt>', html, re.DOTALL)
    text = unescape(re.sub(r"<[^>]+>|\s", "", entry))
    assert text.startswith(signature.replace(" ", ""))


def test_what_a_package_offers_leads_to_where_it_is_defined(built):
    html = (built / "api-memory.html").read_text(encoding="utf-8")
    assert 'href="#kvlib.memory.reservation.Pow2"' in html
    assert re.search(r"<span class=\"pre\">NULL_BLOCK</span></code>,", html), "a constant has no entry to lead to"


def test_the_search_of_the_book_knows_a_name(built):
    assert '"BlockPool"' in (built / "searchindex.js").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("One line\nand more.", "<paragraph>One line and more.</paragraph>"),
        ("A `b*c*d` *and* e.", "A <literal>b*c*d</literal> <emphasis>and</emphasis> e."),
        ("2 * 3 * 4 and *args", "<paragraph>2 * 3 * 4 and *args</paragraph>"),
        ("    x = 1\n      y", 'language="text" xml:space="preserve">x = 1\n  y</literal_block>'),
        ("    x = 1", 'language="python" xml:space="preserve">x = 1</literal_block>'),
        ("a: b\n    c\nd: e", "<paragraph>a: b c</paragraph><paragraph>d: e</paragraph>"),
        ("- a\n  b\n- c", "<list_item><paragraph>a b</paragraph></list_item><list_item><paragraph>c</paragraph>"),
        ("==  ===\na   b c\n    d\n==  ===", "<literal>a</literal></term><definition><paragraph>b c d</paragraph>"),
        ("== == ==\na  b  c\n== == ==\n1  2  3\n== == ==", "<thead><row><entry><paragraph>a</paragraph></entry>"),
    ],
)
def test_a_docstring_is_set_by_the_form_of_its_lines(shown, text, tree):
    assert tree in shown(text)
