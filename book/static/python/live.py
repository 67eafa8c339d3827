"""Runs what a reader writes. What he defines stays for the next cell, what goes wrong comes back as text."""

import io
import sys

LONGEST = 12  # lines of a traceback

page = {"__name__": "__main__"}


def run(code, name):
    """Run `code`, which tracebacks call `name`; returns the traceback, "" if there is none.

    As in a notebook, the value of an expression that ends the code is printed.
    """
    try:
        start = last_expression(code, name)
        lines = code.split("\n")
        exec(compile("\n".join(lines[:start]), name, "exec"), page)
        if start < len(lines):
            exec(compile("\n" * start + "_ = (" + "\n".join(lines[start:]) + "\n)", name, "exec"), page)
            if page["_"] is not None:
                print(repr(page["_"]))
    except SystemExit as error:
        return "" if error.args in ((), (0,), (None,)) else f"SystemExit: {error}"
    except BaseException as error:
        return traceback(error)
    return ""


def last_expression(code, name):
    """The number of the line at which an expression begins that ends `code`; the number of lines if none does."""
    lines = code.split("\n")
    for start in range(len(lines) - 1, -1, -1):
        if not lines[start] or lines[start][0] in " )]}#":
            continue
        try:
            compile("\n".join(lines[start:]), name, "eval")
            compile("\n".join(lines[:start]), name, "exec")
        except SyntaxError:
            break
        return start
    return len(lines)


def traceback(error):
    """The traceback of `error` without the lines of this file, and cut where it is long."""
    text = io.StringIO()
    sys.print_exception(error, text)
    lines = [line for line in text.getvalue().strip().split("\n") if f'File "{__file__}"' not in line]
    if len(lines) > LONGEST:
        lines[LONGEST // 2 : -LONGEST // 2] = [f"  ... {len(lines) - LONGEST} more ..."]
    return "\n".join(lines)
