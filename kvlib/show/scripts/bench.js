import { make, say } from "./elements.js";
import { benchLevers, positionWords } from "./bench_levers.js";
import { benchPicture } from "./bench_picture.js";
import { predictions } from "./bench_predictions.js";
import { pythonSwitch } from "./bench_python.js";
import { readingsTable, readingWords } from "./bench_readings.js";
import { runName, storedRun } from "./bench_runs.js";

const CLOSED = "Run opens when you have predicted or skipped.";
const CHANGED = "The levers have been changed. Run starts over.";
const PLAYING = "Playing. “To the end” in the machine shows the readings at once.";

/** The lab bench: two levers, Run, the machine, readings. `model` has the traits of kvlib.show.lab_bench.LabBench. */
export function renderBench({ model, el }) {
  el.classList.add("kv-widget");
  const read = new Map();
  let abort = new AbortController();
  let coming = null; // the position of a run that is not there yet
  let answered = null; // the questions that the run shown has answered, once it was read to its end

  const levers = benchLevers(model);
  const python = pythonSwitch(model);
  const runButton = make("button", { type: "button", disabled: true, onclick: () => start() }, "Run");
  const stopButton = make("button", { type: "button", onclick: () => stop() }, "Stop");
  const hint = make("span", { className: "kv-bench-hint" }, CLOSED);
  const status = make("p", { role: "status", className: "kv-bench-status" });
  const table = readingsTable(model.get("allocations"));
  const picture = benchPicture(() => showState());
  const asked = predictions(() => {
    runButton.disabled = false;
    say(hint, "");
    runButton.focus({ preventScroll: true });
    levers.element.scrollIntoView({ block: "nearest" });
  });

  const tell = (...parts) => {
    const line = make("p", {}, ...parts);
    if (line.textContent !== status.textContent) status.replaceChildren(...line.childNodes);
  };
  const showButtons = () => {
    const canStop = coming || (picture.position && picture.state === "playing");
    stopButton.ariaDisabled = String(!canStop);
    picture.element.ariaBusy = String(coming !== null);
    const at = coming ?? picture.position;
    if (!runButton.disabled) say(hint, at && runName(at) !== runName(levers.position) ? CHANGED : "");
  };
  const showState = () => {
    showButtons();
    if (coming) return;
    if (picture.state === "over") finish();
    else tell(picture.state === "playing" ? PLAYING : "Paused.");
  };
  const finish = () => {
    const { position, reading } = picture;
    if (!answered) {
      read.set(runName(position), { ...position, ...reading });
      table.show(read, runName(position));
      answered = asked.update(read);
    }
    const heard = make("span", { className: "kv-bench-heard" }, `${positionWords(position)}: ${readingWords(reading)} `);
    tell("Read. ", heard, answered.length ? asked.linkTo(answered) : "");
  };

  const stillShown = () => (picture.position ? ` Still shown: ${positionWords(picture.position)}.` : "");
  const start = async () => {
    abort.abort();
    abort = new AbortController();
    const { signal } = abort;
    const position = levers.position;
    coming = position;
    picture.pause();
    tell(`${positionWords(position)}: loading the run.`);
    showButtons();
    try {
      const { data, origin } = await (python.isOn() ? python.compute(position, signal, tell) : stored(position));
      if (signal.aborted) return;
      coming = null;
      answered = null;
      picture.show(position, data, origin);
    } catch (error) {
      if (signal.aborted) return;
      coming = null;
      tell(`${error.message}${stillShown()}`);
      showButtons();
    }
  };
  const stored = async (position) => ({ data: await storedRun(model, position), origin: "" });
  const stop = () => {
    if (stopButton.ariaDisabled === "true") return;
    abort.abort();
    if (coming) tell(`Stopped.${stillShown()}`);
    coming = null;
    picture.pause();
    showButtons();
  };

  levers.element.addEventListener("change", showButtons);
  stopButton.ariaDisabled = "true";
  const buttons = make("p", { className: "kv-bench-buttons" }, runButton, stopButton, hint);
  const bench = make("section", { className: "kv-bench", ariaLabel: "Lab bench" });
  bench.append(asked.asking, levers.element, buttons, status, picture.element, table.wrapper, asked.answers, python.element);
  el.append(bench);
  return () => {
    abort.abort();
    picture.close();
  };
}
