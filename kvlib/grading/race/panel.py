"""The widgets of the lab *Race the kernel*: knobs, what follows from them, and a button that runs the kernel."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import zip_longest

from kvlib.bench.gpu.loads import DTYPES, Load, equal
from kvlib.bench.gpu.race import Race, tiny
from kvlib.bench.gpu.recorded import Track
from kvlib.errors import MissingPackage
from kvlib.grading.race.changes import BASE
from kvlib.grading.race.report import counts, grids, paragraph, pictures, result, setting, shown, sources

try:
    import ipywidgets as widgets
except ImportError as error:
    raise MissingPackage("the lab's widgets need ipywidgets; in the clone, run: pip install '.[labs]'") from error

KNOBS = {
    "requests": [2**power for power in range(8)],
    "context": [2**power for power in range(8, 16)],
    "block size": [1, 8, 16, 32, 64, 128, 256],
    "dtype": list(DTYPES),
}
QUEUED_S = 0.3  # presses of a running button come when it has ended, all within that time
ROW = {"flex_flow": "row wrap", "align_items": "flex-start"}
COLUMN = {"flex": "1 1 400px", "min_width": "0", "max_width": "504px", "margin": "0 24px 0 0"}


class Knobs(widgets.VBox):
    """Requests, context length, block size and dtype of a step; the heads are those of Llama-3-8B."""

    def __init__(self) -> None:
        start = {"requests": BASE.batch, "context": BASE.longest, "block size": BASE.block_size, "dtype": BASE.dtype}
        self._knobs = [
            # In JupyterLab the keys that move a list of choices move between cells; those of a slider are its own.
            widgets.SelectionSlider(
                options=[(f"{option:,}" if isinstance(option, int) else option, option) for option in options],
                value=start[name],
                description=name,
                continuous_update=False,
                layout={"width": "auto"},
            )
            for name, options in KNOBS.items()
        ]
        super().__init__(self._knobs)

    @property
    def load(self) -> Load:
        """The step that they stand for."""
        requests, context, block_size, dtype = (knob.value for knob in self._knobs)
        return equal(requests, context, block_size=block_size, dtype=dtype)

    def watch(self, call: Callable[[Load], None]) -> None:
        """Call `call` with the load now and whenever a knob is moved."""
        for knob in self._knobs:
            knob.observe(lambda change: call(self.load), names="value")
        call(self.load)


class Counts(widgets.HBox):
    """Knobs, and what can be counted of their step."""

    def __init__(self) -> None:
        knobs, self._words, self._table = Knobs(), widgets.HTML(), widgets.HTML(layout=COLUMN)
        super().__init__([widgets.VBox([knobs, self._words], layout=COLUMN), self._table], layout=ROW)
        knobs.watch(self._show)

    def _show(self, load: Load) -> None:
        self._words.value = paragraph(counts(load))
        self._table.value = shown(grids(load))


class RacePanel(widgets.HBox):
    """Knobs, a button, and pictures of what it brought beside the GPUs of the measurement files.

    On a GPU it runs the decode row of the benchmark for the step that the knobs say; without one, a tiny step, which is
    checked only.
    """

    def __init__(self, race: Race, recorded: Sequence[Track]) -> None:
        self._race, self._recorded = race, recorded
        self._has_gpu = not race.machine.interpreted
        self._knobs = Knobs()
        self._what = "Run" if self._has_gpu else "Check in the interpreter"
        self._button = widgets.Button(
            description=self._what,
            button_style="primary",
            layout={"width": "auto", "align_self": "flex-start", "margin": "12px 2px"},
        )
        self._is_running = False
        self._button.on_click(lambda button: None if self._is_running else self._run())
        self._result, self._sources = widgets.HTML(), widgets.HTML()
        self._pictures = [widgets.HTML(layout=COLUMN) for _ in range(3)]
        left = [self._knobs, self._button, self._result, self._sources]
        super().__init__([widgets.VBox(left, layout=COLUMN), *self._pictures], layout=ROW)
        self._knobs.watch(self._show)

    def _run(self) -> None:
        load = self._knobs.load
        self._is_running = True
        self._button.description = "Running"  # but not disabled, which would take the keyboard's focus away
        what = setting(load) if self._has_gpu else f"interpreter, {setting(tiny(load))}"
        try:
            found = result(self._race.run(load))
            self._show(self._knobs.load)
            self._result.value = paragraph(f"{what}: {found}")
        except Exception as error:  # ipywidgets would write it into a log
            self._result.value = paragraph(f"{what}: {type(error).__name__}: {error}")
        finally:
            try:
                asyncio.get_running_loop().call_later(QUEUED_S, self._end)
            except RuntimeError:  # outside a notebook nothing is queued
                self._end()

    def _end(self) -> None:
        self._is_running = False
        self._button.description = self._what

    def _show(self, load: Load) -> None:
        here = self._race.track
        drawn = pictures(load, self._recorded, here)
        for place, picture in zip_longest(self._pictures, drawn):
            place.value = shown(picture) if picture else ""
            place.layout.display = None if picture else "none"
        self._sources.value = paragraph(sources(load, self._recorded, here, self._has_gpu))
