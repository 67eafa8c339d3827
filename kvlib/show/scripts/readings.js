import { make, say } from "./elements.js";
import { splitSlots } from "./split.js";

const SLOTS = ["stored", "reserved", "internal", "external", "free"];
const OTHERS = ["running", "waiting", "on the host", "preemptions"];

/** The counters of a machine, with a bar that shows what the slots are used for. */
export class Readings {
  constructor() {
    this.values = new Map();
    const reading = (name, mark) => {
      const value = make("dd", { textContent: "0" });
      this.values.set(name, value);
      return make("div", {}, make("dt", {}, ...mark, name), value);
    };
    const swatch = (name) => make("span", { className: `kv-use kv-use-${name}`, ariaHidden: "true" });
    this.parts = SLOTS.map((name) => make("span", { className: `kv-use-${name}` }));
    this.element = make(
      "div",
      { className: "kv-readings" },
      make("dl", {}, ...OTHERS.map((name) => reading(name, []))),
      make("div", { className: "kv-bar", ariaHidden: "true" }, ...this.parts),
      make("dl", {}, ...SLOTS.map((name) => reading(name, [swatch(name)]))),
    );
  }

  show(board) {
    const split = splitSlots(board);
    const running = board.tables.size + board.chunks.size;
    const others = [running, board.waiting.length, board.swapped.size, board.numPreemptions];
    OTHERS.forEach((name, i) => say(this.values.get(name), String(others[i])));
    SLOTS.forEach((name, i) => {
      say(this.values.get(name), String(split[name]));
      this.parts[i].style.flexGrow = split[name];
    });
  }
}
