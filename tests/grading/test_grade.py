import csv
import stat

import pytest

from kvlib.cli import main
from kvlib.errors import BadConfig, BadLab
from kvlib.grading.grade import Plan, grade
from kvlib.grading.run import Limits, Ran
from kvlib.grading.sandbox import Sandbox
from kvlib.grading.summary import as_text

from .small_lab import NAME, RIGHT, TEXT, folder_of_labs, handed_in, lab_of, save
from .stand_in import ENDLESS, StandIn


class Course:
    """A folder with a lab and what was handed in."""

    def __init__(self, folder):
        self.folder, self.lab, self.submissions = folder, lab_of(folder / "labs"), folder / "handed in"

    def hand_in(self, student, answers=RIGHT, file=f"{NAME}.ipynb"):
        return save(self.submissions / student / file, handed_in(self.lab, answers))

    def plan(self, out="marks.csv", **given):
        return Plan(self.submissions, self.folder / out, self.folder / "labs", **{"jobs": 1, **given})

    def rows(self, out="marks.csv"):
        with open(self.folder / out, encoding="utf-8", newline="") as file:
            return {(row["student"], row["exercise"]): (row["points"], row["reason"]) for row in csv.DictReader(file)}

    def graded(self, student, answers):
        """Points and reasons of two answers."""
        self.hand_in(student, answers)
        grade(self.plan(), StandIn())
        return [self.rows()[student, exercise] for exercise in ("total", "mean")]


@pytest.fixture
def course(tmp_path):
    return Course(tmp_path)


def test_right_answers_get_their_points_and_stubs_none(course):
    course.hand_in("ada")
    course.hand_in("bob", {"mean": RIGHT["mean"]})
    course.hand_in("cy", {})
    graded = grade(course.plan(), StandIn())
    assert course.rows() == {
        ("ada", "total"): ("3", "right"),
        ("ada", "mean"): ("2", "right"),
        ("bob", "total"): ("0", "not answered"),
        ("bob", "mean"): ("2", "right"),
        ("cy", "total"): ("0", "not answered"),
        ("cy", "mean"): ("0", "not answered"),
    }
    assert [mark.points for mark in graded.marks] == [3, 2, 0, 2, 0, 0]


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ("def total(a, b):\n    return a", "wrong: broke 'the sum of two numbers holds both'"),
        ("def total(a, b)\n    return a + b", "a syntax error in line 1, `def total(a, b)`: expected ':'"),
        ("x = 1", "stopped: NameError: name 'total' is not defined; only answer cells and given ones are run"),
        (
            "import kvlib.memory.pool\ndef total(a, b):\n    return a + b",
            "imports kvlib.memory.pool; everything an answer",
        ),
        (
            "import sys\ndef total(a, b):\n    return sys._getframe(1).f_locals['expected']",
            "looks at what checks it, by f_locals; an answer works with what it is given",
        ),
        (f"{ENDLESS}\ndef total(a, b): ...", "no end after 20 s"),
        ("def total(a, b):\n    raise KeyError(3)", "stopped: KeyError: 3"),
        ("import sys\ndef total(a, b): sys.exit()", "stopped: SystemExit"),
        (
            "%%time\ndef total(a, b):\n    return a",
            "wrong: broke 'the sum of two numbers holds both'; left out, as commands",
        ),
        (f"def total(a, b):\n    return {'+'.join('a' * 700)}", "wrong: broke 'the sum of two numbers holds both'"),
        (f"def total(a, b):\n    return {'+'.join('a' * 9000)}", "not Python: RecursionError"),
        ("def total(a, b):\n    return 1000020", "wrong: broke 'a sum with nothing is the number'"),
    ],
)
def test_a_wrong_answer_gets_nothing_and_its_own_words_and_the_next_is_graded(course, answer, reason):
    course.hand_in("ada", {"total": answer, "mean": RIGHT["mean"]})
    grade(course.plan(seed=1_000_003), StandIn())
    points, said = course.rows()["ada", "total"]
    assert (points, said[: len(reason)]) == ("0", reason)
    assert course.rows()["ada", "mean"] == ("2", "right")


def test_what_stands_in_checks_and_outputs_is_of_no_account(course):
    notebook = handed_in(course.lab, {"total": "def total(a, b):\n    return 2"})
    for cell in notebook["cells"]:
        if cell["id"].startswith("check"):
            cell["source"] = "print('total: right.')"
            cell["outputs"] = [{"name": "stdout", "output_type": "stream", "text": "total: right."}]
    notebook["cells"].reverse()
    notebook["metadata"]["kernelspec"] = {"name": "ir", "display_name": "R", "language": "R"}
    save(course.submissions / "ada" / "x.ipynb", notebook)
    runs = StandIn()
    grade(course.plan(), runs)
    assert course.rows()["ada", "total"][0] == "0"
    sources = [cell["source"] for notebook in runs.notebooks for cell in notebook["cells"]]
    assert "print('total: right.')" not in sources


def test_checks_that_were_deleted_cost_nothing(course):
    notebook = handed_in(course.lab, RIGHT)
    notebook["cells"] = [cell for cell in notebook["cells"] if cell["id"].startswith("answer")]
    save(course.submissions / "ada" / f"{NAME}.ipynb", notebook)
    grade(course.plan(), StandIn())
    assert [points for points, _ in course.rows().values()] == ["3", "2"]


def test_a_cell_that_raises_after_its_definition_counts(course):
    assert course.graded("ada", {"total": f"{RIGHT['total']}\n1 / 0"})[0] == ("3", "right")


def test_an_answer_may_use_the_students_own_earlier_one(course):
    answers = {
        "total": "def plus(a, b): return a + b\ntotal = plus",
        "mean": "def mean(a, b): return plus(a, b) / 2",
    }
    assert course.graded("ada", answers)[1] == ("2", "right; run with the earlier answers beside it")
    del answers["total"]
    assert course.graded("ada", answers)[1][1].startswith("stopped: NameError: name 'plus' is not defined; only answer")


def test_a_wrong_earlier_answer_does_not_spoil_a_right_one(course):
    answers = {"total": "def total(a, b): return 0", "mean": "def mean(a, b): return total(a, b) / 2"}
    assert [points for points, _ in course.graded("ada", answers)] == ["0", "2"]


def test_a_student_without_a_file_for_a_lab_that_others_handed_in_has_rows(course):
    folder_of_labs(course.folder / "labs", TEXT, "02-other")
    folder_of_labs(course.folder / "labs", TEXT, "03-unused")
    course.hand_in("ada")
    save(course.submissions / "bob" / "02-other.ipynb", handed_in(course.lab, RIGHT) | {"metadata": {}})
    grade(course.plan(), StandIn())
    with open(course.folder / "marks.csv", encoding="utf-8") as file:
        assert file.read().splitlines() == [
            "student,lab,exercise,points,of,reason",
            "ada,01-sums,total,3,3,right",
            "ada,01-sums,mean,2,2,right",
            "ada,02-other,total,0,3,nothing was handed in",
            "ada,02-other,mean,0,2,nothing was handed in",
            "bob,01-sums,total,0,3,nothing was handed in",
            "bob,01-sums,mean,0,2,nothing was handed in",
            "bob,02-other,total,3,3,right",
            "bob,02-other,mean,2,2,right",
        ]
    grade(course.plan("one.csv", only=["02"]), StandIn())
    assert set(course.rows("one.csv").values()) == {("0", "nothing was handed in"), ("3", "right"), ("2", "right")}
    with pytest.raises(BadLab, match="no lab is called 07; known are 01-sums, 02-other"):
        grade(course.plan(only=["07"]), StandIn())


def test_files_with_the_same_content_are_run_once(course):
    course.hand_in("ada")
    grade(course.plan(), one := StandIn())
    course.hand_in("bob")
    course.hand_in("ada", file="copy.ipynb")
    grade(course.plan("again.csv"), both := StandIn())
    assert len(one.notebooks) == len(both.notebooks)
    assert course.rows("again.csv")["bob", "mean"] == ("2", "right")


@pytest.mark.parametrize("runs_before", range(4, 9))
def test_a_run_that_was_killed_goes_on_and_ends_with_the_same_bytes(course, runs_before):
    for student in ("ada", "bob", "cy"):
        course.hand_in(student, {**RIGHT, "total": f"{RIGHT['total']}  # {student}"})
    grade(course.plan("whole.csv", seed=1_000_003), whole := StandIn())

    class Killed(StandIn):
        def __call__(self, notebook):
            if len(self.notebooks) == runs_before:
                raise KeyboardInterrupt
            return super().__call__(notebook)

    plan = course.plan(seed=1_000_003)
    with pytest.raises(KeyboardInterrupt):
        grade(plan, killed := Killed())
    assert not plan.out.exists()
    grade(plan, rest := StandIn())
    assert plan.out.read_bytes() == (course.folder / "whole.csv").read_bytes()
    assert len(whole.notebooks) <= len(killed.notebooks) + len(rest.notebooks) <= len(whole.notebooks) + 1


def seed_in(runs):
    [seed] = {cell["source"] for notebook in runs.notebooks for cell in notebook["cells"] if cell["id"] == "seed"}
    return seed


def test_the_seed_is_secret_and_lives_until_the_marks_are_written(course):
    course.hand_in("ada")

    class Killed(StandIn):
        def __call__(self, notebook):
            if len(self.notebooks) == 4:
                raise KeyboardInterrupt
            return super().__call__(notebook)

    with pytest.raises(KeyboardInterrupt):
        grade(course.plan(), killed := Killed())
    grade(course.plan(), rest := StandIn())
    assert seed_in(killed) == seed_in(rest)
    assert int(seed_in(rest).removeprefix("SEED = ")) >= 10**6
    course.hand_in("bob", {**RIGHT, "total": f"{RIGHT['total']}  # bob"})
    grade(course.plan(), later := StandIn())
    assert seed_in(later) != seed_in(rest)


def test_what_is_done_is_not_done_again_until_something_changes(course):
    course.hand_in("ada")
    grade(course.plan(), StandIn())
    first = course.rows()
    grade(course.plan(), again := StandIn())
    assert (again.notebooks, course.rows()) == ([], first)
    for changed in ({"seed": 5}, {"limits": Limits(cell_s=3)}):
        grade(course.plan(**changed), runs := StandIn())
        assert runs.notebooks
    folder_of_labs(course.folder / "labs", TEXT.replace("total(SEED, 17)", "total(SEED, 18)"))
    grade(course.plan(), runs := StandIn())
    assert runs.notebooks


def test_what_is_kept_is_for_its_owner_alone(course):
    course.hand_in("ada")
    grade(course.plan(), StandIn())
    work = course.folder / "marks" / "work"
    assert stat.S_IMODE(work.stat().st_mode) == 0o700
    assert {stat.S_IMODE(path.stat().st_mode) for path in work.iterdir()} == {0o600}
    assert len(list(work.iterdir())) == 3


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        (
            "return both",
            "return both / 0",
            "answer of total gets no mark: hidden-total raises ZeroDivisionError: division by zero",
        ),
        ("total(SEED, 17)", "id(object())} {SEED", "answer of total gets no mark: run a second time, it is wrong"),
        ('print(f"the mean lies', 'str(f"the mean lies', "answer of mean gets no mark: hidden-mean prints nothing"),
        ('[hidden, "ex:mean"]', "[]", "no hidden cell is about mean, so no answer can be judged"),
        ("print(total(3, 3))", ENDLESS, "answer of mean gets no mark: no end after 20 s"),
    ],
)
def test_a_lab_whose_model_answer_gets_no_mark_stops_before_anybody_is_graded(course, old, new, complaint):
    assert old in TEXT
    course.hand_in("ada")
    folder_of_labs(course.folder / "labs", TEXT.replace(old, new))
    with pytest.raises(BadLab) as raised:
        grade(course.plan(), StandIn())
    assert complaint in str(raised.value)
    assert not (course.folder / "marks.csv").exists()


def test_a_model_answer_that_a_busy_machine_made_slow_is_run_once_more(course):
    class Busy(StandIn):
        runs = 0

        def __call__(self, notebook):
            self.runs += 1
            return Ran({}, "no end after 20 s") if self.runs == 1 else super().__call__(notebook)

    course.hand_in("ada")
    grade(course.plan(), Busy())
    assert course.rows()["ada", "total"] == ("3", "right")


def test_a_fault_of_the_grader_is_one_mark_and_is_tried_again(course):
    course.hand_in("ada")
    course.hand_in("bob", {**RIGHT, "total": "faulty = 1\n" + RIGHT["total"]})

    class Faulty(StandIn):
        def __call__(self, notebook):
            if "faulty" in notebook:
                raise OSError("no more processes")
            return super().__call__(notebook)

    graded = grade(course.plan(), Faulty())
    assert course.rows()["bob", "total"] == ("0", "the grader itself failed: OSError: no more processes")
    assert course.rows()["bob", "mean"] == ("2", "right")
    assert "look at: bob: total of 01-sums: the grader itself failed" in as_text(graded, course.plan(), "")
    grade(course.plan(), StandIn())
    assert course.rows()["bob", "total"] == ("3", "right")


@pytest.mark.parametrize(
    ("out", "complaint"),
    [
        ("marks", "give a name that ends in .csv"),
        ("nowhere/marks.csv", "and there is no folder"),
        ("handed in/marks.csv", "among what was handed in"),
        ("folder.csv", "which is a folder"),
        ("file.csv", "the reports would go to the folder .*file, which is a file"),
    ],
)
def test_marks_that_could_not_lie_there_are_refused(course, out, complaint):
    course.hand_in("ada")
    (course.folder / "folder.csv").mkdir()
    (course.folder / "file").touch()
    with pytest.raises(BadConfig, match=complaint):
        grade(course.plan(out), StandIn())


def test_the_summary_says_how_many_and_what_to_look_at(course):
    course.hand_in("ada")
    course.hand_in("ada", {"total": "import kvlib"}, "second.ipynb")
    save(course.submissions / "b\nb" / "x.ipynb", b"{")
    save(course.submissions / "names.txt", b"ada")
    course.hand_in("cy", {"total": ENDLESS})
    text = as_text(grade(course.plan(), StandIn()), course.plan(), "there was no sandbox")
    assert text.startswith("3 students, 4 files, 6 exercises: 2 right; the mean is 1.7 of 5 points; it took ")
    for line in (
        f"marks: {course.folder / 'marks.csv'}",
        "look at: names.txt: no notebook, and no lab in its name, so left out",
        "look at: b b: b b/x.ipynb is not readable as a notebook: Expecting property name",
        "look at: ada: 01-sums: the best of 2 files: ada/01-sums.ipynb, ada/second.ipynb",
        "look at: cy: total of 01-sums: no end after 20 s",
        "look at: there was no sandbox",
    ):
        assert any(said.startswith(line) for said in text.splitlines()), line


@pytest.mark.parametrize("below", ["", "/work"])
def test_folders_in_one_folder_that_may_be_students_are_pointed_at(course, below):
    for student in ("eva", "finn"):
        course.hand_in(f"Week 1/{student}{below}")
    folders = f"Week 1/eva{below}, Week 1/finn{below}"
    assert f"look at: Week 1: each of the folders {folders} holds 01-sums; if they are students', grade" in as_text(
        grade(course.plan(), StandIn()), course.plan(), ""
    )


def test_reports_and_junit_lie_beside_the_marks(course):
    course.hand_in("ada")
    course.hand_in("=b", {})
    grade(course.plan(), StandIn())
    files = sorted(path.name for path in (course.folder / "marks").iterdir())
    assert {"ada.html", "junit.xml", "work"} < set(files)
    assert len(files) == 4


def test_many_at_once_give_the_same_bytes_as_one_after_the_other(course):
    for number in range(12):
        course.hand_in(f"s{number}", {**RIGHT, "total": f"def total(a, b):\n    return a + b * ({number} % 3)"})
    grade(course.plan("one.csv", seed=1_000_003), StandIn())
    grade(course.plan("many.csv", seed=1_000_003, jobs=4), StandIn())
    assert (course.folder / "one.csv").read_bytes() == (course.folder / "many.csv").read_bytes()
    assert [points for (_, exercise), (points, _) in course.rows("one.csv").items() if exercise == "total"].count(
        "3"
    ) == 4


def command(course, *options):
    return ["grade", str(course.submissions), "--out", str(course.folder / "marks.csv"), "--labs",
            str(course.folder / "labs"), *options]  # fmt: skip


def test_without_a_sandbox_the_command_refuses_until_it_is_accepted(course, monkeypatch):
    course.hand_in("ada")
    monkeypatch.setattr(Sandbox, "find", classmethod(lambda cls: cls("this is no Linux")))
    with pytest.raises(SystemExit) as raised:
        main(command(course))
    for words in ("no sandbox here: this is no Linux", "can read, change and delete every file", "--without-sandbox"):
        assert words in str(raised.value)
    assert not (course.folder / "marks").exists()


@pytest.mark.parametrize("place", ["labs", "handed in", "marks.csv"])
def test_the_command_refuses_what_answers_could_read(course, monkeypatch, place):
    course.hand_in("ada")
    monkeypatch.setattr(Sandbox, "find", classmethod(lambda cls: cls()))
    monkeypatch.setattr("kvlib.grading.sandbox.allowed", lambda: [str(course.folder / place)])
    with pytest.raises(SystemExit, match=rf"{place} lies in .*{place}, which answers can read"):
        main(command(course))
    assert not (course.folder / "marks").exists()


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("grade", "a folder for each student, or with files that have student and lab in their names"),
        ("grade", "the same command goes on where it was"),
        ("grade", "reports and what is kept on the way go to the folder FILE beside it"),
        ("release", "not as a release left it is not overwritten: then nothing is written"),
    ],
)
def test_the_help_of_a_command_says_what_it_does(capsys, name, words):
    with pytest.raises(SystemExit):
        main([name, "--help"])
    assert words in " ".join(capsys.readouterr().out.split())


def test_a_memory_limit_that_no_kernel_starts_with_is_named(course):
    course.hand_in("ada")
    with pytest.raises(SystemExit, match="no kernel starts with --memory 50,000,000, in bytes; a kernel alone takes"):
        main(command(course, "--without-sandbox", "--memory", "5e7", "--jobs", "1"))


def test_the_command_grades_by_nbval_in_a_kernel(course, capsys):
    folder_of_labs(course.folder / "labs", TEXT.partition("```{code-cell} python\nprint(total(3, 3))")[0])
    course.hand_in("ada")
    course.hand_in("bob", {"total": "def total(a, b):\n    return a"})
    assert main(command(course, "--without-sandbox", "--seed", "1000003", "--cell-seconds", "60", "--jobs", "1")) == 0
    assert course.rows() == {
        ("ada", "total"): ("3", "right"),
        ("bob", "total"): ("0", "wrong: broke 'the sum of two numbers holds both'"),
    }
    said = capsys.readouterr()
    assert said.out.startswith("2 students, 2 files, 2 exercises: 1 right;")
    assert "look at: there was no sandbox: time, output" in said.out
