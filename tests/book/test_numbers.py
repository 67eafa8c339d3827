"""No number is typed into the prose: it comes from the ledger by its id, or from a cell that computes it."""

import functools
import re
from pathlib import Path

import pytest

from kvlib import ledger

from . import small_build

BOOK = Path(__file__).parents[2] / "book"
CHAPTERS = sorted(BOOK.glob("*.md"))

CODE = {"code-cell", "code-block", "code", "literalinclude", "math", "raw", "eval-rst", "toctree", "ledger", "course"}
PATHS = {"figure", "image", "include", "glue"}  # directives whose argument is a file or a key

# Digits that belong to a name and state nothing.
NAMES = [
    r"\b[A-Za-z][\w+./-]*\d[\w+./-]*",  # OPT-13B, fp16, A100, int8, GPT-2, Qwen3-4B, CC-BY-4.0
    r"\b(?:Llama|LLaMA|Falcon|Gemma) \d+(?:\.\d+)?(?: \d+B)?\b",
    r"\b(?:Python|torch|PyTorch|CUDA|Triton|vLLM|SGLang|transformers|Jupyter Book|Apache|CC BY(?:-NC)?) v?\d[\d.]*\b",
    r"\b(?i:chapters?|labs?|sections?|figures?|figs?\.|tables?|equations?|exercises?|appendix|rules?|invariants?) "
    r"\d[\d.]*[a-f]?(?:(?:, |,? and | to |–)\d[\d.]*[a-f]?)*",
    r"\b\d+B\b",  # a 13B model
    r"\b\d+-bit\b",
    r"\barXiv[: ]\d{4}\.\d{4,5}\b",
    r"\bdoi[: ]10\.\S+",
    r"\b(?:\d{1,2} )?(?:January|February|March|April|May|June|July|August|September|October|November|December) \d{4}\b",
    r"\b(?:19[5-9]\d|20[0-3]\d)(?:-\d\d(?:-\d\d)?)?\b",  # years and dates
]
NUMBER = re.compile(r"\d(?:[\d.,\u00a0\u202f]*\d)?")
IN_MATH = re.compile(r"\d*\.\d+|\d(?:\d|\{,\}|,){3,}")  # formulas may hold a 2 or an exponent, not a result


def prose(text):
    """The lines of a MyST page with everything blanked that is not prose; exercises are left out, since the numbers
    in them are given and not claimed, and so is the page's title, which is a name."""
    text = re.sub(r"\A---\n.*?\n---\n", lambda header: "\n" * header[0].count("\n"), text, flags=re.S)
    text = re.sub(r"<!--.*?-->", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    fences, in_options, in_exercises, lines = [], False, False, []
    for line in text.split("\n"):
        fence = re.match(r"\s*(`{3,}|~{3,}|:{3,})\s*(?:\{([\w-]+)\})?(.*)", line)
        if fence and fences and not fence[2] and not fence[3].strip() and fence[1].startswith(fences[-1][0]):
            fences.pop()
            line = ""
        elif fence and not (fences and fences[-1][1]):
            is_code = fence[2] in CODE or (not fence[2] and fence[1][0] != ":")
            fences.append((fence[1], is_code))
            in_options, line = True, "" if is_code or fence[2] in PATHS else fence[3]
        elif in_options and re.match(r"\s*:[\w-]+:", line):
            line = ""
        else:
            in_options = False
            if heading := re.match(r"(#+) (.*)", line) if not fences else None:
                in_exercises = heading[2].startswith("Exercises") if len(heading[1]) <= 2 else in_exercises
            if in_exercises or line.startswith(("# ", "% ", "+++")) or any(is_code for _, is_code in fences):
                line = ""
        lines.append(line)
    return lines


def typed_numbers(text):
    """(line, number) for each number typed into the prose of a MyST page that is not part of a name."""
    text = "\n".join(prose(text))
    found = []

    def blank(pattern, text, keep=""):
        return re.sub(pattern, lambda match: match.expand(keep) + "\n" * match[0].count("\n"), text, flags=re.S | re.M)

    def look_at_math(match):
        line = text.count("\n", 0, match.start()) + 1
        found.extend((line + match[0].count("\n", 0, hit.start()), hit[0]) for hit in IN_MATH.finditer(match[0]))
        return "\n" * match[0].count("\n")

    text = blank(r"(?:\{[\w:-]+\})?(`+)(?!`).*?(?<!`)\1(?!`)(?:\{[^}\n]*\})?", text)  # roles and code
    text = re.sub(r"\$\$.*?\$\$|(?<![\\$])\$(?!\s)[^$\n]*?(?<![\s\\])\$(?!\d)", look_at_math, text, flags=re.S)
    text = blank(r"^\([\w-]+\)=$|^\s*\d+\. (?=\S)", text)  # targets, numbered lists
    text = blank(r"\](?:\([^)]*\)|\[[^\]]*\])(?:\{[^}\n]*\})?|^\{[^}\n]*\}$", text)  # link targets, attributes
    text = blank(r"\[\^[^\]]*\]|<[^>\n]+>|https?://\S+", text)  # footnotes, tags, addresses
    for name in NAMES:
        text = blank(name, text)
    for number, line in enumerate(text.split("\n"), start=1):
        found.extend((number, hit[0]) for hit in NUMBER.finditer(line))
    return sorted(found)


def ids_shown(text):
    return re.findall(r"\{num(?:-bare)?\}`([^`]*)`", text)


def test_no_chapter_has_a_typed_number():
    pages = {page.name: typed_numbers(page.read_text(encoding="utf-8")) for page in CHAPTERS}
    assert {page: numbers for page, numbers in pages.items() if numbers} == {}


def test_every_id_in_the_chapters_is_in_the_ledger():
    known = ledger.load()
    pages = {page.name: ids_shown(page.read_text(encoding="utf-8")) for page in CHAPTERS}
    assert {page: missing for page, ids in pages.items() if (missing := sorted(set(ids) - set(known)))} == {}


CLEAN = """---
file_format: mystnb
kernelspec: {name: python3}
jupytext_version: 1.16
---

(chapter-3)=
# 3 · 800 KB a token

OPT-13B in fp16 on an A100 writes {num}`opt-13b-token-bytes`, `2 * 5120 * 40 * 2` in code, as chapter 3 and figure 13a
say. Chapters 6 and 7 and lab 3 say more. GPT-2, Llama 2 70B,
Qwen3-4B and a 13B model in int8 are names, and so are Python 3.11 and vLLM 0.32.0.
See [chapter](03-800-kb.md#part-2), <https://example.org/2>, ![a picture](static/fig-2.svg){width=50%} and
(Kwon et al. 2023, arXiv 2309.06180) {cite:p}`kwon2023`. A role may break `over 2
lines`.

1. The first.
2. The second, $2 \\times L \\times 2^{10}$.

```{code-cell} python
:tags: [hide-input]
print(819_200)
```

~~~
96 %
~~~

:::{figure} static/fig-3.svg
:alt: 44 blocks
:width: 90%
Blocks of a sequence.
:::

% a comment of 1999 words
<!-- 12
34 -->

$$
2 \\times n_\\text{layers} \\times 128
$$

## Exercises

A card has 24 GiB. How many sequences of 1,000 tokens fit?
"""


def test_names_code_references_and_roles_are_no_typed_numbers():
    assert typed_numbers(CLEAN) == []


@pytest.mark.parametrize(
    ("planted", "found"),
    [
        ("It stores about 96 % of memory.", "96"),
        ("A token takes 819,201 bytes.", "819,201"),
        ("Only 20.4 % to", "20.4"),
        ("A sequence has at most 2048 tokens.", "2048"),
        ("**42** blocks", "42"),
        ("| vLLM | 30.42 |", "30.42"),
        ("[7 sequences](https://example.org)", "7"),
        ("![7 blocks](x.svg)", "7"),
        (":::{admonition} The 3 wastes\nA waste.\n:::", "3"),
        (":::{note}\n:class: wide\nIn all 176 slots.\n:::", "176"),
        ("::::{tip}\n```{code-cell} python\n1\n```\nThen 5 more.\n::::", "5"),
        ("The sum is $819{,}200$.", "819{,}200"),
        ("The sum is $800.5$.", "800.5"),
        ("$$\n2 \\times 5120\n$$", "5120"),
        ("### 8 layers", "8"),
        ("[^note]: It was 12.", "12"),
    ],
)
def test_a_typed_number_is_found_on_its_line(planted, found):
    clean, _, exercises = CLEAN.partition("## Exercises")
    above = clean.count("\n") + 1
    hits = typed_numbers(f"{clean}{planted}\n\n## Exercises{exercises}")
    assert [number for _, number in hits] == [found]
    assert above <= hits[0][0] <= above + planted.count("\n")


PAGES = {
    "index.md": "# Index\n\n```{toctree}\nbook/three\nbook/numbers\n```\n",
    "book/three.md": "# Three\n\nIn all {num}`opt-13b-slots`, that is {num-bare}`opt-13b-blocks` blocks.\n",
    "book/numbers.md": "# Numbers\n\n```{ledger}\n```\n",
}


@pytest.fixture
def build(tmp_path):
    """Write the pages (a text of None removes one) and build them, warnings as errors, in two processes."""

    return functools.partial(small_build.build, tmp_path, "ledger_roles")


def row(page, id):
    return re.search(f'<tr[^>]*id="num-{id}".*?</tr>', page.read_text(encoding="utf-8"), flags=re.S)[0]


def test_a_number_links_to_its_row_and_the_row_to_the_pages_that_show_it(build, tmp_path):
    assert build(PAGES).stderr == ""
    three = (tmp_path / "out/book/three.html").read_text(encoding="utf-8")
    assert re.search(
        r'<span class="num num-derived"><a [^>]*href="numbers.html#num-opt-13b-slots" title="[^"]*'
        r'derived: Kwon et al. 2023[^"]*table 1[^"]*">15,728\xa0slots</a></span>',
        three,
    )
    assert re.search(r'#num-opt-13b-blocks"[^>]*>983</a></span> blocks', three)
    numbers = tmp_path / "out/book/numbers.html"
    assert '<a class="reference internal" href="three.html">Three</a>' in row(numbers, "opt-13b-slots")
    assert "three.html" not in row(numbers, "vllm-stored")
    assert numbers.read_text(encoding="utf-8").count('<tr class="') > len(ledger.load())


def test_the_rows_follow_when_another_page_changes(build, tmp_path):
    build(PAGES)
    assert build({"book/three.md": "# Three\n\nThe share is {num}`vllm-stored`.\n"}).stderr == ""
    numbers = tmp_path / "out/book/numbers.html"
    assert "three.html" in row(numbers, "vllm-stored")
    assert "three.html" not in row(numbers, "opt-13b-slots")


def test_an_unknown_id_stops_the_build_with_page_line_and_near_ids(build):
    done = build(PAGES | {"book/three.md": "# Three\n\nFirst line.\nIn all {num}`opt-13b-slot`.\n"})
    assert done.returncode != 0
    assert re.search(r"three\.md:[34]: WARNING: .*'opt-13b-slot'.*opt-13b-slots", done.stderr)


def test_numbers_without_a_page_that_lists_them_stop_the_build(build):
    done = build(PAGES | {"book/numbers.md": "# Numbers\n"})
    assert done.returncode != 0
    assert "no page has the directive {ledger}" in done.stderr
