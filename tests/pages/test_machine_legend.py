"""The legend: the signs that a log needs, each drawn and named."""

import pytest

from kvlib.memory.contiguous import Max

from .machines import CROWDED, FORKED, crowded, data_of, opened_machines
from .runs import contiguous, varied

machine = opened_machines
USES = ["stored", "reserved", "internal", "external", "free"]
RINGS = ["thin ring", "thick ring"]
BLOCK = ["12 A1", "1 → 12"]


def legend_of(page):
    page.get_by_text("What the signs mean").click()
    page.wait_for_selector(".kv-legend dt")
    return page.locator(".kv-legend dt").all_inner_texts()


@pytest.mark.parametrize(
    ("data", "more"),
    [
        (CROWDED, [*RINGS, *BLOCK, "preempted"]),
        (FORKED, [*RINGS, *BLOCK, "2", "cached", "copied", "copy"]),
        (data_of(crowded("swap")), [*RINGS, *BLOCK, "out", "in"]),
        (data_of(contiguous(40, Max(20), {"first": (3, 5)})), [*RINGS, "chunk"]),
        (FORKED | {"num_blocks": 2000, "events": []}, ["small block"]),
    ],
    ids=["preempted", "forked", "swapped", "slots", "small"],
)
def test_the_legend_has_the_five_uses_and_the_signs_of_its_log(machine, data, more):
    assert legend_of(machine(data)) == USES + more


def test_the_legend_says_that_the_machine_knows_the_end(machine):
    page = machine()
    legend_of(page)
    assert "it knows where each text ends; a server does not" in page.locator(".kv-legend").inner_text()


def signs(page):
    return page.eval_on_selector_all(
        ".kv-legend canvas",
        """canvases => canvases.map((canvas) => {
            const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
            return [canvas.toDataURL(), data.some((value) => value > 0)];
        })""",
    )


def test_every_sign_is_drawn_unlike_the_others_and_anew_in_another_theme(machine):
    page = machine(data_of(varied("swap", 1)))
    legend_of(page)
    light = signs(page)
    assert all(is_drawn for _, is_drawn in light)
    assert len({picture for picture, _ in light}) == len(light) >= 9
    page.evaluate("document.documentElement.dataset.theme = 'dark'")
    page.wait_for_function("old => document.querySelector('.kv-legend canvas').toDataURL() !== old", arg=light[0][0])
    assert all(one[0] != other[0] for one, other in zip(light, signs(page), strict=True))
