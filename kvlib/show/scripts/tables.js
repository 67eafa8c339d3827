import { lightUp, make, say } from "./elements.js";
import { filledAt } from "./split.js";
import { letterOf } from "./names.js";

const MOST_ROWS = 5; // entries of a table below each other before it goes on beside them
const MOST_DOTS = 8;

/** The block tables: of each sequence its entries, with logical number, physical number and filled slots as dots. */
export class Tables {
  constructor(history) {
    this.history = history;
    this.cards = new Map();
    const name = history.log.numSlots ? "Chunks" : "Block tables";
    this.element = make("div", {
      className: "kv-tables",
      tabIndex: 0,
      role: "group",
      ariaLabel: `${name}: arrow keys go from entry to entry`,
    });
    this.fit();
  }

  fit() {
    const rows = this.history.log.numSlots ? MOST_ROWS : Math.min(MOST_ROWS, this.history.mostEntries);
    this.element.style.setProperty("--kv-rows", Math.max(1, rows));
  }

  show(board, sequences) {
    const cards = sequences.map((one) => this.#card(board, one));
    if (cards.length !== this.element.children.length || cards.some((card, i) => card !== this.element.children[i])) {
      this.element.replaceChildren(...cards);
    }
  }

  #card(board, { seq, state, table, chunk, number }) {
    if (!this.cards.has(seq)) this.cards.set(seq, new Card(seq, number));
    const card = this.cards.get(seq);
    const entries = table ? entriesOf(board, table) : chunk ? linesOf(board, seq, chunk) : [];
    card.show(state, entries);
    return card.element;
  }

  light(lit, isThere) {
    lightUp(this.element, ".kv-entry", (item) => Boolean(lit?.entries.has(item.dataset.entry)), isThere);
  }
}

class Card {
  constructor(seq, number) {
    this.seq = seq;
    this.state = make("span");
    this.list = make("ol");
    this.said = [];
    const title = make("p", {}, make("b", { textContent: letterOf(number) }), this.state);
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

const linesOf = ({ log }, seq, { start, slots, wanted, stored }) => {
  const final = Math.max(stored, log.finals.get(seq) ?? 0);
  const use = { stored, reserved: final - stored, internal: wanted - final, external: slots - wanted };
  const lines = Object.entries(use).map(([name, count]) => `${count} ${name}`);
  return [`${start}–${start + slots - 1}`, ...lines].map((text) => [["span", "", text]]);
};
