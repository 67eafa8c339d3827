/** Contiguous memory: the chunk of each sequence, and the `gaps`, [start, size], of a refusal that stands. */
export class Chunks extends Map {
  constructor(numSlots, chunks = [], gaps = []) {
    super([...chunks].map(([seq, chunk]) => [seq, { ...chunk }]));
    this.numSlots = numSlots;
    this.gaps = gaps;
  }

  copy() {
    return new Chunks(this.numSlots, this, this.gaps);
  }

  get numHeld() {
    return [...this.values()].reduce((sum, { slots }) => sum + slots, 0);
  }

  /** The sequence whose chunk slot `slot` is in, or undefined. */
  owner(slot) {
    const isIn = ({ start, slots }) => start <= slot && slot < start + slots;
    return [...this.keys()].find((seq) => isIn(this.get(seq)));
  }

  reserve({ seq, start, slots, wanted }) {
    if (this.has(seq)) return `${seq} holds a chunk already, from slot ${this.get(seq).start} on`;
    if (wanted < 1 || wanted > slots) return `${wanted} wanted slots do not make a chunk of ${slots}`;
    if (!this.#areFree(start, slots)) return `slots ${start} to ${start + slots - 1} are not all there and free`;
    this.set(seq, { start, slots, wanted, stored: 0 });
    this.gaps = [];
    return null;
  }

  write({ seq, start, stop }) {
    const chunk = this.get(seq);
    if (!chunk) return `${seq} holds no chunk`;
    if (start !== chunk.stored) return `the next token of ${seq} is number ${chunk.stored}`;
    if (stop < start || stop > chunk.wanted) return `${seq} asked for ${chunk.wanted} slots`;
    chunk.stored = stop;
    return null;
  }

  refuse({ seq, slots, gaps }) {
    if (this.has(seq)) return `${seq} holds a chunk already`;
    const arePairs = gaps.every((gap) => Array.isArray(gap) && gap.length === 2 && gap.every(Number.isInteger));
    if (!arePairs) return "each gap is [first slot, size]";
    const placed = [...gaps].sort(([a], [b]) => a - b);
    if (placed.some(([start, size]) => !this.#areFree(start, size))) return "a gap is not free";
    if (placed.some(([, size]) => size >= slots)) return `a gap has room for ${slots} slots`;
    const areApart = placed.every(([start, size], i) => i + 1 === placed.length || start + size <= placed[i + 1][0]);
    const sum = placed.reduce((all, [, size]) => all + size, 0);
    if (!areApart || sum !== this.numSlots - this.numHeld) return "the gaps are all free slots, each once";
    this.gaps = gaps;
    return null;
  }

  release({ seq }) {
    if (!this.delete(seq)) return `${seq} holds no chunk`;
    this.gaps = [];
    return null;
  }

  #areFree(start, size) {
    const isInside = start >= 0 && size > 0 && start + size <= this.numSlots;
    return isInside && [...this.values()].every((it) => start + size <= it.start || it.start + it.slots <= start);
  }
}
