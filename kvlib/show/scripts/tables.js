import { fill, lightUp, make, say } from "./elements.js";
import { chunkUse, filledAt } from "./split.js";
import { counted } from "./names.js";
import { nameTag } from "./name_tag.js";

const MOST_ROWS = 5; // entries of a table below each other before it goes on beside them
const MOST_DOTS = 8;

/** The block tables: of each sequence its entries, with logical number, physical number and filled slots as dots. */
export class Tables {
  constructor(history) {
    this.history = history;
    this.cards = new Map();
    this.noun = history.log.numSlots ? "chunk" : "block table";
    this.list = make("div", {
      className: "kv-tables",
      tabIndex: 0,
      role: "group",
      ariaLabel: `${history.log.numSlots ? "Chunks" : "Block tables"}: arrow keys go from entry to entry`,
    });
    this.count = make("p", { className: "kv-part" });
    this.element = make("div", {}, this.count, this.list);
    this.fit();
  }

  fit() {
    const rows = this.history.log.numSlots ? MOST_ROWS : Math.min(MOST_ROWS, this.history.mostEntries);
    this.list.style.setProperty("--kv-rows", Math.max(1, rows));
  }

  show(board, sequences) {
    say(this.count, counted(board.tables.size + board.swapped.size + board.chunks.size, this.noun));
    fill(this.list, sequences.map((one) => this.#card(board, one)));
  }

  #card(board, { seq, state, table, chunk, number }) {
    if (!this.cards.has(seq)) this.cards.set(seq, new Card(seq, number));
    const card = this.cards.get(seq);
    const entries = table ? entriesOf(board, table) : chunk ? linesOf(board, seq, chunk) : [];
    card.show(state, entries);
    return card.element;
  }

  light(lit, isThere) {
    lightUp(this.list, ".kv-entry", (item) => Boolean(lit?.entries.has(item.dataset.entry)), isThere);
  }
}

class Card {
  constructor(seq, number) {
    this.seq = seq;
    this.state = make("span");
    this.list = make("ol");
    this.said = [];
    const title = make("p", {}, nameTag(seq, number), this.state);
    this.element = make("div", { className: `kv-card kv-seq-${number % 6}` }, title, this.list);
  }

  /** Show entries, each a list of [tag, class, text]; those that are as before are left alone. */
  show(state, entries) {
    say(this.state, state && ` ${state}`);
    this.element.classList.toggle("kv-idle", entries.length === 0);
    while (this.list.children.length > entries.length) this.list.lastChild.remove();
    this.said.length = this.list.children.length;
    entries.forEach((parts, index) => {
      const said = parts.map(([, , text]) => text).join(" ");
      if (this.said[index] === said) return;
      this.said[index] = said;
      const data = { seq: this.seq, index, entry: `${this.seq} ${index}` };
      const pieces = parts.map(([tag, className, textContent]) => make(tag, { className, textContent }));
      const item = make("li", { data, className: "kv-entry" }, ...pieces);
      if (index < this.list.children.length) this.list.children[index].replaceWith(item);
      else this.list.append(item);
    });
  }
}

const entriesOf = ({ log }, table) =>
  table.blocks.map((block, index) => [
    ["i", "", index],
    ["span", "kv-arrow", "→"],
    ["b", "", block],
    ["span", "kv-dots", dots(filledAt(table, index, log.blockSize), log.blockSize)],
  ]);

const dots = (filled, size) =>
  size > MOST_DOTS ? `${filled}/${size}` : "●".repeat(filled) + "○".repeat(size - filled);

const linesOf = ({ log }, seq, chunk) => {
  const lines = Object.entries(chunkUse(log, seq, chunk)).map(([name, count]) => `${count} ${name}`);
  return [`${chunk.start}–${chunk.start + chunk.slots - 1}`, ...lines].map((text) => [["span", "", text]]);
};
