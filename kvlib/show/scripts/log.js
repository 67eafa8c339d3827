export const VERSION = 2;

const INT = "a whole number";
const TEXT = "a text";
const LIST = "a list";

const FIELDS = {
  arrive: { seq: TEXT },
  allocate: { seq: TEXT, index: INT, block: INT },
  share: { seq: TEXT, index: INT, block: INT, count: INT, filled: INT },
  copy: { seq: TEXT, index: INT, source: INT, target: INT },
  write: { seq: TEXT, start: INT, stop: INT },
  free: { seq: TEXT, block: INT, count: INT },
  evict: { block: INT },
  swap: { seq: TEXT, how: TEXT, blocks: LIST, host_blocks: LIST },
  reserve: { seq: TEXT, start: INT, slots: INT, wanted: INT },
  release: { seq: TEXT },
  refuse: { seq: TEXT, slots: INT, gaps: LIST },
  preempt: { seq: TEXT, how: TEXT },
  finish: { seq: TEXT, reason: TEXT },
};

const MOST_SLOTS = 1_000_000; // more would be neither seen nor held

const HEADER = { num_blocks: INT, block_size: INT, num_slots: INT, events: LIST };

/** The log, or an event in it, is not one that can be drawn; the message is a sentence for the reader. */
export class BadEvents extends Error {}

/** An event log: sizes in blocks and slots, `texts` (seq -> pieces), `events`. Throws BadEvents if the data is none. */
export class Log {
  constructor(data) {
    const header = typeof data === "string" ? parsed(data) : data;
    if (!isObject(header)) throw new BadEvents("The log is no object with events; record it again.");
    if (header.version !== VERSION) {
      const found = header.version === undefined ? "no version" : `version ${JSON.stringify(header.version)}`;
      throw new BadEvents(`The log has ${found}; this machine reads version ${VERSION}. Record it again.`);
    }
    const wrong = wrongField(header, HEADER);
    if (wrong) throw new BadEvents(`The log is not whole: ${wrong}. Record it again.`);
    this.numBlocks = header.num_blocks;
    this.blockSize = header.block_size;
    this.numSlots = header.num_slots;
    const isBoard = this.numBlocks > 0 && this.blockSize > 0 && this.numSlots === 0;
    const isRow = this.numSlots > 0 && this.numBlocks === 0 && this.blockSize === 0;
    if (!(isBoard || isRow) || this.size > MOST_SLOTS) {
      throw new BadEvents(
        `The log is of ${this.numBlocks} blocks of ${this.blockSize} slots, and of ${this.numSlots} in one piece; ` +
          `one of the two, with 1 to ${MOST_SLOTS} slots in all, can be drawn.`,
      );
    }
    this.events = [];
    this.texts = new Map();
    this.finals = new Map(); // seq -> the most tokens it stores, in the events that History has found to happen
    this.numbers = new Map();
    this.append(header);
  }

  #left = new Map(); // block -> the event that last let it go
  #kept = new Map(); // that event and block -> whether what it held was found again, or evicted
  #findsCached = false;

  /** All slots of the memory. */
  get size() {
    return this.numSlots || this.numBlocks * this.blockSize;
  }

  /** Whether the events of `data`, a log's JSON object, begin with those of this log. */
  begins(data) {
    if (!isObject(data) || wrongField(data, HEADER) || data.version !== VERSION) return false;
    const sizes = [data.num_blocks, data.block_size, data.num_slots];
    const last = this.events.length - 1;
    return (
      String(sizes) === String([this.numBlocks, this.blockSize, this.numSlots]) &&
      data.events.length > last &&
      JSON.stringify(data.events[last]) === JSON.stringify(this.events[last])
    );
  }

  /** Add `events`; `texts` has all pieces that are known of a sequence now, one a token. */
  append({ events, texts }) {
    for (const [seq, pieces] of Object.entries(isObject(texts) ? texts : {})) {
      if (Array.isArray(pieces)) this.texts.set(seq, pieces.map(String));
    }
    for (const event of events) this.#learn(event);
  }

  #learn(event) {
    const number = this.events.push(event) - 1;
    if (malformed(event)) return; // the board refuses it when it comes to it
    const { kind, seq } = event;
    if (seq !== undefined && kind !== "arrive" && kind !== "refuse" && !this.numbers.has(seq)) {
      this.numbers.set(seq, this.numbers.size);
    }
    for (const block of blocksLeft(event)) this.#left.set(block, number);
    const isFound = kind === "evict" || kind === "share";
    for (const block of blocksTaken(event)) {
      this.#kept.set(`${this.#left.get(block)} ${block}`, isFound);
      this.#findsCached ||= isFound && this.#left.has(block);
      this.#left.delete(block);
    }
  }

  /** Whether what `block` held can be found after event `number` let it go: by hindsight, else whether it was full. */
  isCached(number, block, filled) {
    return this.#kept.get(`${number} ${block}`) ?? (this.#findsCached && filled === this.blockSize);
  }
}

const blocksLeft = ({ kind, how, count, block, blocks }) => {
  if (kind === "free") return count === 0 ? [block] : [];
  return kind === "swap" && how === "out" ? blocks : [];
};

const blocksTaken = ({ kind, how, count, block, target, blocks }) => {
  if (kind === "allocate" || kind === "evict") return [block];
  if (kind === "share") return count === 1 ? [block] : [];
  if (kind === "copy") return [target];
  return kind === "swap" && how === "in" ? blocks : [];
};

/** Why `event` is not one of the log's kinds with the fields of its kind, or null. */
export const malformed = (event) => {
  if (!isObject(event)) return "it is no object";
  if (!Object.hasOwn(FIELDS, event.kind)) return `the kinds are ${Object.keys(FIELDS).join(", ")}`;
  return wrongField(event, { step: INT, ...FIELDS[event.kind] });
};

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

const IS = { [INT]: Number.isInteger, [TEXT]: (value) => typeof value === "string", [LIST]: Array.isArray };

const wrongField = (object, fields) => {
  const wrong = Object.keys(fields).find((field) => !IS[fields[field]](object[field]));
  return wrong ? `${wrong} is ${JSON.stringify(object[wrong]) ?? "missing"}, not ${fields[wrong]}` : null;
};

const parsed = (text) => {
  try {
    return JSON.parse(text);
  } catch {
    throw new BadEvents("The log is not whole JSON; it may be cut short. Write it again.");
  }
};
