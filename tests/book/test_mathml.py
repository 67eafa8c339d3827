"""Formulas of the book's kind become whole MathML; what cannot is an error with its reason, never a gap on a page."""

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

_spec = importlib.util.spec_from_file_location("mathml", Path(__file__).parents[2] / "book" / "ext" / "mathml.py")
extension = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(extension)


def text(latex: str, display: str = "inline") -> str:
    return "".join(ElementTree.fromstring(extension.mathml(latex, display)).itertext())


@pytest.mark.parametrize(
    ("latex", "shown"),
    [
        (r"o < B \le 16", "o<B≤16"),
        (r"\lfloor p / B \rfloor", "⌊p/B⌋"),
        (r"2 \times n_\text{layers}", "2×nlayers"),
        (r"\{x\} \cdot 15{,}728", "{x}·15,728"),
        (r"\frac{q k^\top}{\sqrt{d}}", "qk⊤d"),
        (r"\operatorname{softmax}_j", "softmaxj"),
        (r"\text{num\_blocks}", "num_blocks"),
    ],
)
def test_formula_shows_its_characters(latex: str, shown: str) -> None:
    assert text(latex) == shown


@pytest.mark.parametrize("environment", ["split", "aligned"])
def test_lines_are_aligned_in_a_table(environment: str) -> None:
    latex = rf"\begin{{{environment}}} a &= b \\ &= c \end{{{environment}}}"
    assert extension.mathml(latex, "block").count("<mtr>") == 2


def test_block_with_a_line_break_needs_no_environment() -> None:
    assert extension.mathml(r"a &= b \\ &= c", "block").count("<mtr>") == 2


@pytest.mark.parametrize(
    ("latex", "reason"),
    [
        (r"\foo x", r"foo"),
        (r"\begin{foo} x \end{foo}", "unknown environment 'foo'"),
        (r"x^{2", "1 opening and 0 closing"),
        (r"\frac{a}", "mfrac"),
        (r"a & b", "'&'"),
        (r"a_1_2", "DoubleSubscripts"),
        (r"\left( x", "Right"),
        ("", "NoAvailableTokens"),
    ],
)
def test_formula_that_cannot_be_whole_is_an_error_with_its_reason(latex: str, reason: str) -> None:
    with pytest.raises(extension.MathError, match=reason):
        extension.mathml(latex, "inline")
