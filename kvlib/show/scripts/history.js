import { BadEvents } from "./log.js";
import { Board } from "./board.js";

const EVERY = 256; // events from one kept board to the next

/** A log played: the board at any position (events applied) up to `length`; `problem` says why no further, or null. */
export class History {
  constructor(log) {
    this.log = log;
    this.length = 0;
    this.problem = null;
    this.starts = [0]; // positions at which a step of the scheduler begins, and the end
    this.mostRunning = 0;
    this.mostEntries = 0;
    this.mostHostBlocks = 0;
    this.mostWaiting = 0;
    this.#current = this.#last = new Board(log);
    this.#kept = [this.#last.copy()];
    this.#position = 0;
    this.extend();
  }

  #current; // the board handed out last, at #position
  #position;
  #kept;
  #last; // at `length`

  /** Play the events that the log has got since. */
  extend() {
    const { events } = this.log;
    this.#last = this.#last.copy();
    this.starts.pop();
    try {
      for (let number = this.length; number < events.length && !this.problem; number++) {
        const isNew = number === 0 || events[number]?.step !== events[number - 1].step;
        this.#last.apply(events[number], number);
        if (isNew) this.starts.push(number);
        this.length = number + 1;
        if (this.length % EVERY === 0) this.#kept.push(this.#last.copy());
        this.#measure(events[number]);
      }
    } catch (error) {
      if (!(error instanceof BadEvents)) throw error;
      this.problem = error.message;
    }
    this.starts.push(this.length);
  }

  #measure({ kind, seq, stop, host_blocks: hostBlocks }) {
    const board = this.#last;
    const { finals } = this.log;
    this.mostRunning = Math.max(this.mostRunning, board.tables.size + board.chunks.size);
    this.mostEntries = Math.max(this.mostEntries, board.tables.get(seq)?.blocks.length ?? 0);
    this.mostWaiting = Math.max(this.mostWaiting, board.waiting.length);
    if (kind === "write") finals.set(seq, Math.max(stop, finals.get(seq) ?? 0));
    if (kind === "swap") this.mostHostBlocks = Math.max(this.mostHostBlocks, ...hostBlocks);
  }

  /** The board after `position` events; the same object, changed, the next time. */
  at(position) {
    const kept = Math.floor(position / EVERY);
    if (position < this.#position || kept * EVERY > this.#position) {
      this.#current = this.#kept[kept].copy();
      this.#position = kept * EVERY;
    }
    for (; this.#position < position; this.#position++) {
      this.#current.apply(this.log.events[this.#position], this.#position);
    }
    return this.#current;
  }

  /** Where the step that ends at `position`, or is in the middle there, begins. */
  stepBefore(position) {
    return this.starts[Math.max(0, this.#firstFrom(position) - 1)];
  }

  /** Where the step that begins at `position`, or is in the middle there, ends. */
  stepAfter(position) {
    return this.starts[Math.min(this.starts.length - 1, this.#firstFrom(position + 1))];
  }

  /** The place in `starts` of the first that is `position` or later. */
  #firstFrom(position) {
    let [low, high] = [0, this.starts.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.starts[middle] < position) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** The events of the step shown at `position`, those that have happened. */
  recent(position) {
    return this.log.events.slice(this.stepBefore(position), position);
  }
}
