"""The report that a student gets: one HTML file, which needs no other file, no network and no script."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import groupby

from kvlib.grading.judge import Broken, printable
from kvlib.grading.marks import Mark

LONGEST_NAME = 80  # characters of a file's name

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">
<title>Marks of {student}</title>
<link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; --soft: light-dark(#f3f3f3, #2a2a2a); }}
body {{ margin: 1rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: break-word; }}
main {{ max-width: 50rem; margin-inline: auto; }}
caption, th, td {{ padding-inline-end: 1.5rem; text-align: start; font-weight: normal; }}
dt {{ margin-block-start: .5rem; font-weight: bold; }}
dd {{ margin-inline-start: 1.5rem; }}
code, pre {{ font: .875rem/1.5 ui-monospace, monospace; overflow-wrap: anywhere; }}
pre {{ background: var(--soft); padding: .5rem .75rem; white-space: pre-wrap; }}
</style>
</head>
<body>
<main>
{content}
</main>
</body>
</html>
"""


def as_html(student: str, marks: Sequence[Mark]) -> str:
    """The report of a student, with all of whose marks it is called, in order."""
    content = "\n".join([f"<h1>Marks of {_text(student)}</h1>", *_overview(marks), *_labs(marks)])
    return _PAGE.format(student=_text(student), content=content)


def file_names(students: Iterable[str]) -> dict[str, str]:
    """A name for the file of each student: the student's own, as far as every system allows; no two are the same."""
    plain = {student: re.sub(r"[^\w-]+", "_", student)[:LONGEST_NAME].strip("_") for student in sorted(students)}
    times = Counter(name.casefold() for name in plain.values())
    return {
        student: name
        if name and name == student and times[name.casefold()] == 1
        else f"{name}-{hashlib.sha256(student.encode()).hexdigest()[:8]}".lstrip("-")
        for student, name in plain.items()
    }


def _overview(marks: Sequence[Mark]) -> Iterator[str]:
    yield f"<p><strong>{_points(marks)}.</strong> A right answer gets all points of its exercise.</p>"
    yield "<table><caption>Points by lab</caption>"
    yield '<thead><tr><th scope="col">Lab</th><th scope="col">Points</th></tr></thead><tbody>'
    for lab, rows in groupby((mark for mark in marks if mark.lab), key=lambda mark: mark.lab):
        yield f'<tr><th scope="row">{_text(lab)}</th><td>{_points(list(rows))}</td></tr>'
    yield "</tbody></table>"
    yield from (f"<p>{_sentence(mark.reason)}</p>" for mark in marks if not mark.lab)


def _labs(marks: Sequence[Mark]) -> Iterator[str]:
    for lab, rows in groupby((mark for mark in marks if mark.lab), key=lambda mark: mark.lab):
        yield f"<h2>{_text(lab)}</h2>"
        for mark in rows:
            yield from _exercise(mark)


def _exercise(mark: Mark) -> Iterator[str]:
    yield f"<h3>{_text(mark.exercise)}: {_points([mark])}</h3>"
    yield f"<p>{_sentence(mark.reason)}</p>"
    if mark.result.broken:
        yield "<p>With the numbers of the marks and of the check:</p>"
        yield from _laws(mark.result.broken)
    if mark.result.said:
        yield "<p>The check of the lab, with its own numbers, says:</p>"
        yield f"<pre>{_text(mark.result.said)}</pre>"
    if mark.file:
        yield f"<p>From <code>{_text(mark.file)}</code></p>"


def _laws(broken: Sequence[Broken]) -> Iterator[str]:
    yield "<dl>"
    for law, expected, theirs in broken:
        yield f"<dt>{_text(law)}</dt>"
        yield f"<dd>expected: <code>{_text(expected)}</code></dd>"
        yield f"<dd>yours: <code>{_text(theirs) or 'nothing'}</code></dd>"
    yield "</dl>"


def _points(marks: Sequence[Mark]) -> str:
    return f"{sum(mark.points for mark in marks)} of {sum(mark.of for mark in marks)} points"


def _sentence(words: str) -> str:
    return _text(f"{words[:1].upper()}{words[1:].rstrip('.')}.")


def _text(words: str) -> str:
    return escape(printable(words))
