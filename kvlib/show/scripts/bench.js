import { renderMachine } from "./machine.js";
import { PageModel } from "./mount.js";
import { make, say } from "./elements.js";
import { radioGroup } from "./radio_group.js";
import { predictions } from "./bench_predictions.js";
import { pythonSwitch } from "./bench_python.js";
import { allocationWords, counters, percent, readingsTable, readUpTo } from "./bench_readings.js";
import { runName, storedRun } from "./bench_runs.js";

const SPEED = 4; // times that of the machine: half a minute for a run, more or less
const ROW = 20; // slots

/** The lab bench: two levers, Run, the machine, readings. `model` has the traits of kvlib.show.lab_bench.LabBench. */
export function renderBench({ model, el }) {
  el.classList.add("kv-widget");
  const allocations = model.get("allocations");
  const read = new Map();
  let run = null;

  const allocation = radioGroup({
    legend: "Tokens in a block",
    options: Object.fromEntries(allocations.map((it) => [it, it === "longest" ? "no blocks: rows of 20" : it])),
    chosen: "4",
    className: "kv-bench-lever",
  });
  const number = radioGroup({
    legend: "Sequences that come",
    options: Object.fromEntries(model.get("numbers").map((it) => [it, it])),
    chosen: "24",
    className: "kv-bench-lever",
  });
  const python = pythonSwitch(model);
  const runButton = make("button", { type: "button", disabled: true, onclick: () => start() }, "Run");
  const closed = make("span", { className: "kv-bench-hint" }, "Run opens when you have predicted or skipped.");
  const status = make("p", { role: "status", className: "kv-bench-status" });
  const whence = make("p", { className: "kv-bench-hint" });
  const readings = counters();
  const table = readingsTable(allocations);
  const place = make("div", { className: "kv-bench-machine" });
  const asked = predictions(() => {
    runButton.disabled = false;
    closed.remove();
    runButton.focus();
  });

  const tell = (text) => say(status, text);
  const words = (at) => `${at.number} sequences, ${allocationWords(at.allocation)}`;

  const stop = () => {
    run?.abort.abort();
    run?.machine?.set("playing", false);
    run?.close?.();
    place.replaceChildren();
    readings.show(null);
    say(whence, "");
  };
  const start = async () => {
    stop();
    const at = { allocation: allocation.chosen, number: Number(number.chosen) };
    const mine = { at, abort: new AbortController() };
    run = mine;
    try {
      const { data, origin } = await (python.isOn() ? python.compute(at, mine.abort.signal, tell) : stored(at));
      if (run === mine) play(mine, data, origin);
    } catch (error) {
      if (run === mine) tell(error.message);
    }
  };
  const stored = async (at) => ({ data: await storedRun(model, at), origin: "" });

  const play = (mine, { log, readings: rounds }, origin) => {
    const last = log.events.length;
    const row = mine.at.allocation === "longest" ? ROW : 0;
    mine.machine = new PageModel({ data: log, position: 0, playing: true, speed: SPEED, row, label: words(mine.at) });
    mine.machine.on("change:position", () => {
      const position = mine.machine.get("position");
      const reading = readUpTo(rounds, position);
      readings.show(reading);
      if (position === last && !mine.isRead) finish(mine, reading);
    });
    const machineEl = make("div");
    place.append(machineEl);
    tell(`${words(mine.at)}.`);
    say(whence, origin);
    mine.close = renderMachine({ model: mine.machine, el: machineEl });
  };
  const finish = (mine, reading) => {
    mine.isRead = true;
    const name = runName(mine.at);
    read.set(name, { ...mine.at, ...reading });
    table.show(read, name);
    const answered = asked.update(read).map((place) => ` Prediction ${place} is answered below.`);
    const { most, rounds, stored, held } = reading;
    const said = `at most ${most} at once, ${percent(stored, held)} of the held slots hold tokens, ${rounds} rounds.`;
    tell(`${words(mine.at)}: ${said}${answered.join("")}`);
  };
  const buttons = make("p", { className: "kv-bench-buttons" }, runButton, closed);
  const levers = make("div", { className: "kv-bench-levers" }, allocation.fieldset, number.fieldset);
  const bench = make("section", { className: "kv-bench", ariaLabel: "Lab bench" });
  bench.append(asked.form, levers, python.element, buttons, status, readings.list, whence, place, table.wrapper, asked.answers);
  el.append(bench);
  return stop;
}
