"""Marks as JUnit's XML, which many systems show: a suite a student, a case an exercise."""

from collections.abc import Iterable
from itertools import groupby
from xml.etree import ElementTree as xml

from kvlib.grading.judge import printable
from kvlib.grading.marks import Mark


def as_junit(marks: Iterable[Mark]) -> str:
    """The XML of marks that are in the order of their students."""
    root = xml.Element("testsuites", name="kvlib grade")
    for student, rows in groupby(marks, key=lambda mark: mark.student):
        own = list(rows)
        failures = sum(mark.points < mark.of or not mark.of for mark in own)
        suite = xml.SubElement(
            root, "testsuite", name=printable(student), tests=str(len(own)), failures=str(failures), errors="0"
        )
        for mark in own:
            case = xml.SubElement(suite, "testcase", classname=mark.lab or "no lab", name=mark.exercise or mark.file)
            if mark.points < mark.of or not mark.of:
                xml.SubElement(case, "failure", message=printable(mark.reason))
    xml.indent(root)
    return xml.tostring(root, encoding="unicode", xml_declaration=False) + "\n"
