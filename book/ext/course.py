"""Sphinx extension: {course}, a table of weeks with their chapters and labs, and the points that the labs give.

Its text is YAML, one item a week: chapters, the names of pages in book/, and labs, those in labs/.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml
from docutils import nodes
from docutils.statemachine import StringList
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import kvlib
from kvlib.grading.labs import Lab, read_labs

LABS = Path(kvlib.__file__).parents[1] / "labs"


class Course(SphinxDirective):
    """The table. Points are those of the labs' own exercises."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        labs = read_labs(LABS)
        for name in labs:
            self.env.note_dependency(str(LABS / f"{name}.md"))
        table = nodes.container()
        lines = rows(yaml.safe_load("\n".join(self.content)), labs)
        self.state.nested_parse(StringList(list(lines), self.get_source_info()[0]), self.content_offset, table)
        table["classes"].append("kv-course")
        return [table]


def rows(weeks: list[dict[str, list[str]]], labs: dict[str, Lab]) -> Iterator[str]:
    """The table as lines of MyST text. Raises KeyError for a lab that is not there."""
    yield "| week | read | write | points |"
    yield "| ---: | --- | --- | ---: |"
    total = 0
    for number, week in enumerate(weeks, 1):
        points = sum(points_of(labs[name]) for name in week["labs"])
        read = "<br>".join(f"[](/book/{name}.md)" for name in week["chapters"])
        write = "<br>".join(f"[](/labs/{name}.md)" for name in week["labs"])
        total += points
        yield f"| {number} | {read} | {write} | {points} |"
    yield f"| | | in all | {total} |"


def points_of(lab: Lab) -> int:
    """What a learner gets who answers all of its exercises."""
    return sum(lab.points(exercise) for exercise in lab.exercises)


def setup(app: Sphinx) -> dict[str, Any]:
    app.add_directive("course", Course)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
