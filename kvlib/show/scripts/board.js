import { BadEvents, malformed } from "./log.js";
import { Chunks } from "./chunks.js";

/**
 * The memory after some events of a log: `tables` and `swapped` (seq -> { blocks, numTokens }), `counts` of owners and
 * `stored` tokens of each block, `chunks`, `waiting` ids, `numbers` (seq -> order of entry), numPreemptions, step.
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
    return this.#change(event, number);
  }

  #queue({ kind, seq, how }) {
    const place = this.waiting.indexOf(seq);
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

  #change(event, number) {
    switch (event.kind) {
      case "arrive":
        return this.#arrive(event);
      case "allocate":
        return this.#unusable(event.block) ?? this.#enter(event, 0);
      case "share":
        return this.#share(event);
      case "copy":
        return this.#copyOnWrite(event);
      case "write":
        return this.log.numSlots ? this.chunks.write(event) : this.#write(event);
      case "free":
        return this.#free(event, number);
      case "evict":
        return this.#evict(event);
      case "swap":
        return this.#swap(event, number);
      case "reserve":
      case "refuse":
      case "release":
        return this.chunks[event.kind](event);
      default:
        return this.#leave(event);
    }
  }

  #arrive({ seq }) {
    return this.numbers.has(seq) || this.waiting.includes(seq) ? `${seq} has come before` : null;
  }

  #unusable(block) {
    if (block < 1 || block > this.log.numBlocks) return `the blocks are numbered 1 to ${this.log.numBlocks}`;
    return this.counts[block] ? `block ${block} belongs to ${this.owners(block).join(" and ")}` : null;
  }

  #enter({ seq, index, block }, filled) {
    const table = this.tables.get(seq) ?? { blocks: [], numTokens: 0 };
    if (index !== table.blocks.length) return `the next entry in the table of ${seq} is number ${table.blocks.length}`;
    table.blocks.push(block);
    table.numTokens += filled;
    this.tables.set(seq, table);
    this.counts[block] += 1;
    this.stored.set(block, filled);
    this.cached.delete(block);
    return null;
  }

  #share(event) {
    const { seq, block, count, filled } = event;
    const table = this.tables.get(seq);
    if (this.stored.get(block) !== filled) return `block ${block} stores ${this.stored.get(block) ?? 0} tokens`;
    if (this.counts[block] + 1 !== count) return `${this.counts[block]} tables name block ${block} before it`;
    if (table && this.#room(table)) return `the last block of ${seq} is not full`;
    if (table?.blocks.includes(block)) return `the table of ${seq} names block ${block} already`;
    return this.#enter(event, filled);
  }

  #copyOnWrite({ seq, index, source, target }) {
    const blocks = this.tables.get(seq)?.blocks ?? [];
    if (blocks[index] !== source) return `entry ${index} in the table of ${seq} does not name block ${source}`;
    if (this.counts[source] < 2) return `block ${source} has no other owner`;
    const unusable = this.#unusable(target);
    if (unusable) return unusable;
    blocks[index] = target;
    this.counts[source] -= 1;
    this.counts[target] += 1;
    this.stored.set(target, this.stored.get(source));
    this.cached.delete(target);
    return null;
  }

  #write({ seq, start, stop }) {
    const table = this.tables.get(seq);
    if (!table) return `${seq} holds no blocks`;
    if (start !== table.numTokens) return `the next token of ${seq} is number ${table.numTokens}`;
    const room = this.#room(table);
    if (stop < start || stop > start + room) return `the table of ${seq} has room for ${room} tokens`;
    const size = this.log.blockSize;
    const first = Math.floor(start / size);
    const shared = table.blocks.slice(first).find((block) => this.counts[block] > 1);
    if (shared) return `block ${shared}, which it would write into, has another owner, too`;
    table.numTokens = stop;
    table.blocks.forEach((block, i) => i >= first && this.stored.set(block, Math.min(size, stop - i * size)));
    return null;
  }

  #free({ seq, block, count }, number) {
    const table = this.tables.get(seq);
    if (!table) return this.counts[block] ? `${seq} holds no blocks` : `${seq} holds no blocks, and block ${block} is free`;
    const last = table.blocks.length - 1;
    if (table.blocks[last] !== block) return `${seq} frees its last block first, which is ${table.blocks[last]}`;
    if (this.counts[block] - 1 !== count) return `${this.counts[block]} tables name block ${block} before it`;
    table.blocks.pop();
    table.numTokens = Math.min(table.numTokens, last * this.log.blockSize);
    this.counts[block] = count;
    this.#keep(block, number);
    if (last === 0) this.tables.delete(seq);
    return null;
  }

  #keep(block, number) {
    if (this.counts[block] === 0 && this.log.isCached(number, block, this.stored.get(block))) this.cached.add(block);
  }

  #evict({ block }) {
    const unusable = this.#unusable(block);
    if (unusable) return unusable;
    if (!this.stored.get(block)) return `block ${block} holds nothing that could be lost`;
    this.stored.delete(block);
    this.cached.delete(block);
    return null;
  }

  #swap(event, number) {
    const { seq, how, blocks, host_blocks: hostBlocks } = event;
    const held = how === "out" ? blocks : hostBlocks;
    const table = (how === "out" ? this.tables : this.swapped).get(seq) ?? (how === "out" && { blocks: [], numTokens: 0 });
    if (!["out", "in", "dropped"].includes(how)) return "a swap goes out or in, or what is out is dropped";
    if (how === "out" && this.swapped.has(seq)) return `${seq} is on the host already`;
    if (!table) return `${seq} is not on the host`;
    if (!isEqual(table.blocks, held)) return `${seq} has the blocks ${table.blocks.join(", ") || "none"}`;
    if (how === "dropped") return this.#drop(seq);
    const target = how === "out" ? hostBlocks : blocks;
    if (!areBlocks(target, held.length)) return "each of its blocks goes to one other block";
    return how === "out" ? this.#swapOut(seq, table, hostBlocks, number) : this.#swapIn(seq, table, blocks);
  }

  #swapOut(seq, table, hostBlocks, number) {
    for (const block of table.blocks) {
      this.counts[block] -= 1;
      this.#keep(block, number);
    }
    this.swapped.set(seq, { blocks: [...hostBlocks], numTokens: table.numTokens });
    this.tables.delete(seq);
    return null;
  }

  #swapIn(seq, table, blocks) {
    for (const [i, block] of blocks.entries()) {
      const isBack = this.counts[block] > 0 && this.returned.get(block) === table.blocks[i];
      const unusable = isBack ? null : this.#unusable(block);
      if (unusable) return unusable;
    }
    for (const [i, block] of blocks.entries()) {
      this.counts[block] += 1;
      this.stored.set(block, filledAt(table, i, this.log.blockSize));
      this.cached.delete(block);
      this.returned.set(block, table.blocks[i]);
    }
    this.tables.set(seq, { blocks: [...blocks], numTokens: table.numTokens });
    return this.#drop(seq);
  }

  #drop(seq) {
    this.swapped.delete(seq);
    return null;
  }

  #leave({ kind, seq }) {
    if (this.tables.has(seq)) return `${seq} still holds blocks ${this.tables.get(seq).blocks.join(", ")}`;
    if (this.chunks.has(seq)) return `${seq} still holds its chunk`;
    if (kind === "finish" && this.swapped.has(seq)) return `${seq} still holds blocks on the host`;
    return null;
  }

  #room(table) {
    return table.blocks.length * this.log.blockSize - table.numTokens;
  }
}

/** Filled slots of logical block `index` of a table. */
export const filledAt = (table, index, size) => Math.max(0, Math.min(size, table.numTokens - index * size));

const copyTables = (tables) =>
  new Map([...tables].map(([seq, { blocks, numTokens }]) => [seq, { blocks: [...blocks], numTokens }]));

const isEqual = (one, other) => one.length === other.length && one.every((value, i) => value === other[i]);

const areBlocks = (blocks, count) =>
  blocks.length === count && new Set(blocks).size === count && blocks.every((block) => Number.isInteger(block) && block > 0);

const shownEvent = (event) => {
  if (typeof event !== "object" || event === null) return JSON.stringify(event) ?? "nothing";
  const { kind, step, ...fields } = event;
  const said = Object.entries(fields).map(([name, value]) => `${name} ${JSON.stringify(value)}`);
  return [`${kind} in step ${step}`, ...said].join(", ").slice(0, 200);
};
