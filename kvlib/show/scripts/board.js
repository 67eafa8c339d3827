import { BadEvents, malformed } from "./log.js";
import { CHANGES } from "./changes.js";
import { Chunks } from "./chunks.js";

/**
 * The memory after some events of a log: `tables` and `swapped` (seq -> { blocks, numTokens }), `counts` of owners and
 * `stored` tokens of each block, `chunks`, `waiting` ids, `numbers` (seq -> order of entry), `lengths` (seq -> tokens
 * ever stored), numPreemptions, step.
 */
export class Board {
  constructor(log) {
    this.log = log;
    this.tables = new Map();
    this.counts = new Array(log.numBlocks + 1).fill(0);
    this.stored = new Map();
    this.cached = new Set();
    this.swapped = new Map();
    this.returned = new Map();
    this.chunks = new Chunks(log.numSlots);
    this.waiting = [];
    this.numPreemptions = 0;
    this.numbers = new Map();
    this.lengths = new Map();
    this.step = 0;
  }

  /** A board of its own in the same state. */
  copy() {
    const copy = Object.assign(new Board(this.log), this);
    copy.tables = copyTables(this.tables);
    copy.counts = [...this.counts];
    copy.stored = new Map(this.stored);
    copy.cached = new Set(this.cached);
    copy.swapped = copyTables(this.swapped);
    copy.returned = new Map(this.returned);
    copy.chunks = this.chunks.copy();
    copy.waiting = [...this.waiting];
    copy.numbers = new Map(this.numbers);
    copy.lengths = new Map(this.lengths);
    return copy;
  }

  /** The sequences whose tables name `block`, in the order of `tables`. */
  owners(block) {
    return [...this.tables.keys()].filter((seq) => this.tables.get(seq).blocks.includes(block));
  }

  /** How many slots of `block` hold tokens of a sequence. */
  filled(block) {
    return this.counts[block] ? (this.stored.get(block) ?? 0) : 0;
  }

  /** Let event `number` of the log happen; throws BadEvents, with a sentence, if it cannot, and then nothing has. */
  apply(event, number) {
    const why = malformed(event) ?? this.#refusal(event, number);
    if (why) throw new BadEvents(`Event ${number} of the log (${shownEvent(event)}) cannot happen: ${why}.`);
    this.step = event.step;
    if ("seq" in event) this.#queue(event);
  }

  #refusal(event, number) {
    if (event.step < this.step) return `step ${this.step} has begun`;
    if (event.step > this.step) this.returned.clear();
    return CHANGES[event.kind](this, event, number);
  }

  #queue({ kind, seq, how, stop }) {
    const place = this.waiting.indexOf(seq);
    if (kind === "write") this.lengths.set(seq, Math.max(stop, this.lengths.get(seq) ?? 0));
    if (kind === "arrive") {
      this.waiting.push(seq);
    } else if (kind === "preempt") {
      this.numPreemptions += 1;
      if (how === "recompute") this.waiting.unshift(seq);
    } else if (kind !== "refuse" && place >= 0) {
      this.waiting.splice(place, 1);
    }
    if (!["arrive", "refuse"].includes(kind) && !this.numbers.has(seq)) this.numbers.set(seq, this.numbers.size);
  }
}

const copyTables = (tables) =>
  new Map([...tables].map(([seq, { blocks, numTokens }]) => [seq, { blocks: [...blocks], numTokens }]));

const shownEvent = (event) => {
  if (typeof event !== "object" || event === null) return JSON.stringify(event) ?? "nothing";
  const { kind, step, ...fields } = event;
  const said = Object.entries(fields).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [`${kind} in step ${step}`, ...said].join(", ").slice(0, 200);
};
