import { editor } from "./editor.js";
import { make } from "./elements.js";
import { canRunPython, currentPythonLife, isPythonLoaded, PYTHON_MEGABYTES, runPython, whyNoPython } from "./python.js";

const INTERPRETER = "cells"; // all cells of a page build on one another
const MOST_PRINTED = 100000; // bytes: what a loop without end prints must not fill the page

const cellButton = (textContent, onclick) =>
  make("button", { className: "kv-live-button", type: "button", textContent, onclick });

/** Without `disabled`, which takes the keyboard's place in the page away. */
const setEnabled = (element, isEnabled) => element.setAttribute("aria-disabled", String(!isEnabled));

const sentence = (textContent = "", more = "") => make("p", { className: `kv-live-said ${more}`, textContent });

/** A cell that a reader can change and run; `all` are the live cells of its page, in order. */
class LiveCell {
  constructor(cell, all) {
    this.all = all;
    this.number = all.push(this);
    this.input = cell.querySelector(".cell_input");
    this.outputInBook = cell.querySelector(".cell_output");
    this.original = this.input.querySelector("pre").textContent.trimEnd();
    this.ranInLife = null; // of the interpreter that has run it
    this.stopping = null; // the AbortController of a run
    this.opener = cellButton("", () => this.open());
    this.place = make("div", { className: "kv-live" });
    if (canRunPython()) this.place.append(this.opener);
    else if (this.number === 1) this.place.append(sentence(whyNoPython()));
    this.input.after(this.place);
    this.sayCost();
  }

  get code() {
    return this.area?.value ?? this.original;
  }

  sayCost() {
    const cost = isPythonLoaded() ? "" : ` (${PYTHON_MEGABYTES.toFixed(1)} MB of Python, once)`;
    this.opener.textContent = `Change and run this here${cost}`;
  }

  open() {
    this.area = editor(this.original, `Code of live cell ${this.number}`, () => this.run());
    this.runner = cellButton("Run", () => this.run());
    this.stopper = cellButton("Stop", () => this.stopping?.abort());
    setEnabled(this.stopper, false);
    const hint = sentence("Shift + Enter runs. Tab indents; Escape, then Tab leaves.", "kv-live-keys");
    hint.id = `kv-live-hint-${this.number}`;
    this.area.setAttribute("aria-describedby", hint.id);
    const reset = cellButton("Reset", () => this.reset());
    const buttons = make("div", { className: "kv-live-buttons" }, this.runner, this.stopper, reset, hint);
    this.output = make("div", { className: "kv-live-output" });
    this.output.setAttribute("role", "status");
    this.input.hidden = true;
    this.place.replaceChildren(this.area, buttons, this.output);
    this.outputInBook?.prepend(sentence("In the book:"));
    this.toStart();
  }

  reset() {
    this.area.value = this.original;
    this.area.dispatchEvent(new Event("input"));
    this.toStart();
  }

  toStart() {
    this.area.setSelectionRange(0, 0);
    this.area.focus();
  }

  async run() {
    if (this.stopping) return;
    this.stopping = new AbortController();
    setEnabled(this.runner, false);
    setEnabled(this.stopper, true);
    this.said = sentence();
    this.printed = make("pre", { className: "kv-live-printed" });
    this.output.replaceChildren(this.said, this.printed);
    this.showEnd(await this.runWithEarlierCells());
    setEnabled(this.stopper, false);
    setEnabled(this.runner, true);
    this.stopping = null;
    for (const cell of this.all) cell.sayCost();
  }

  async runWithEarlierCells() {
    const { signal } = this.stopping;
    const onStatus = (text) => (this.said.textContent = text);
    for (const cell of this.all.slice(0, this.number - 1)) {
      if (cell.ranInLife === currentPythonLife(INTERPRETER)) continue;
      const { error, stopped } = await cell.runHere({ signal, onStatus });
      if (error) return { printed: "", error, stopped, place: `Live cell ${cell.number}, above, ` };
    }
    return this.runHere({ signal, onStatus, onPrinted: (text) => this.printed.append(text) });
  }

  async runHere(options) {
    const name = `live cell ${this.number}`;
    const result = await runPython(INTERPRETER, this.code, { name, mostPrinted: MOST_PRINTED, ...options });
    this.ranInLife = result.error ? null : currentPythonLife(INTERPRETER);
    return result;
  }

  showEnd({ printed, error, stopped, place = "It " }) {
    if (stopped) this.said.textContent = "Stopped.";
    else if (error) this.said.textContent = `${place}ended with an error:`;
    else this.said.textContent = printed ? "It printed:" : "It ran, and printed nothing.";
    if (error && !stopped) this.output.append(make("pre", { className: "kv-live-error", textContent: error }));
    for (const text of this.output.querySelectorAll("pre")) text.tabIndex = 0; // to be scrolled by keyboard
  }
}

/** Gives each cell of the page that is tagged `live` a button to change and run it. */
export const mountCells = () => {
  const all = [];
  for (const cell of document.querySelectorAll("div.cell.tag_live")) new LiveCell(cell, all);
};
