import { make, say } from "./elements.js";
import { nameOf } from "./names.js";
import { splitSlots } from "./split.js";
import { usesOf } from "./uses.js";

const MOST_NAMES = 40; // there is hardly room for more

/** The counters of a machine, with the letters of those that wait, and a bar of what the slots are used for. */
export class Readings {
  constructor(log) {
    this.values = new Map();
    this.host = this.#named("on the host");
    this.waiting = this.#named("waiting");
    const uses = Object.entries(usesOf(log));
    this.parts = new Map(uses.map(([name]) => [name, make("span", { className: `kv-use-${name}` })]));
    const counts = [this.#reading("running"), this.#reading("preemptions"), this.host, this.waiting];
    this.element = make(
      "div",
      { className: "kv-readings" },
      make("dl", { className: "kv-counts" }, ...counts),
      make("div", { className: "kv-bar", ariaHidden: "true" }, ...this.parts.values()),
      make("dl", { className: "kv-uses" }, ...uses.map((use) => this.#use(use))),
    );
  }

  #reading(name, title = "") {
    const value = make("dd", {}, "0");
    this.values.set(name, value);
    return make("div", { title }, make("dt", {}, name), value);
  }

  #named(name) {
    const reading = this.#reading(name);
    reading.className = "kv-named";
    reading.append(make("dd", { className: "kv-names" }));
    return reading;
  }

  #use([name, meaning]) {
    const use = this.#reading(name, meaning);
    use.className = `kv-use-${name}`;
    return use;
  }

  /** Show a board's counts; the host's only where there is a host. */
  show(board, hasHost) {
    const { tables, chunks, swapped, waiting, numPreemptions } = board;
    const split = splitSlots(board);
    const counts = { running: tables.size + chunks.size, "on the host": swapped.size, waiting: waiting.length };
    for (const [name, count] of Object.entries({ ...counts, preemptions: numPreemptions, ...split })) {
      say(this.values.get(name), String(count));
    }
    for (const [name, part] of this.parts) part.style.flexGrow = split[name];
    const names = (seqs) => seqs.slice(0, MOST_NAMES).map((seq) => nameOf(board.log, seq)).join(" ");
    say(this.host.lastChild, names([...swapped.keys()]));
    say(this.waiting.lastChild, names(waiting));
    this.host.hidden = !hasHost;
  }
}
