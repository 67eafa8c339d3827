import { fill, lightUp, make, marked, say } from "./elements.js";
import { counted, visible } from "./names.js";
import { nameTag } from "./name_tag.js";

const MOST_TOKENS = 1500; // elements for all sequences together
const LEAST_TOKENS = 16;
const SEEN_AT_ONCE = 3; // lines, which are seen without scrolling

/** The text of each sequence, one piece a token, in groups of a block; of long ones the end. */
export class Texts {
  constructor(history, onFolded) {
    this.history = history;
    this.lines = new Map();
    this.list = make("div", {
      className: "kv-texts",
      tabIndex: 0,
      role: "group",
      ariaLabel: "Texts: arrow keys go from token to token",
    });
    this.count = make("span");
    this.fold = make("button", { type: "button", className: "kv-fold", textContent: "Show all" });
    this.fold.addEventListener("click", () => this.#toggle(onFolded));
    this.fold.ariaExpanded = "false";
    this.element = make("div", {}, make("p", { className: "kv-part" }, this.count, this.fold), this.list);
  }

  /** Show all texts, or as many as there is a little room for. */
  #toggle(onFolded) {
    const isOpen = this.list.classList.toggle("kv-all");
    this.fold.ariaExpanded = String(isOpen);
    say(this.fold, isOpen ? "Show fewer" : "Show all");
    onFolded(this.list);
  }

  show(board, sequences) {
    const { log, mostRunning } = this.history;
    this.element.hidden = log.texts.size === 0;
    if (this.element.hidden) return;
    const most = Math.max(LEAST_TOKENS, Math.floor(MOST_TOKENS / (mostRunning + 1)));
    const shown = sequences.filter(({ numWritten }) => numWritten > 0);
    fill(this.list, shown.map((one) => this.#line(log, one, most)));
    say(this.count, counted(shown.length, "text"));
    this.fold.hidden = mostRunning <= SEEN_AT_ONCE;
  }

  #line(log, one, most) {
    if (!this.lines.has(one.seq)) this.lines.set(one.seq, new Line(one));
    return this.lines.get(one.seq).show(log, one, Math.max(0, one.numWritten - most));
  }

  light(lit, isThere) {
    lightUp(this.list, ".kv-token", (item) => Boolean(lit?.tokens.has(item.dataset.token)), isThere);
  }
}

/** One text; tokens from `numTokens` on are those that have lost their place in the memory. */
class Line {
  constructor({ seq, number }) {
    this.seq = seq;
    this.state = make("span", { className: "kv-state" });
    this.skipped = make("span");
    this.tokens = [];
    Object.assign(this, { first: 0, numTokens: -1 });
    const parts = [nameTag(seq, number), this.state, this.skipped];
    this.element = make("p", { className: `kv-text kv-seq-${number % 6}` }, ...parts);
  }

  show(log, { state, numTokens, numWritten }, first) {
    say(this.state, state && ` ${state} `);
    if (this.first !== first || this.first + this.tokens.length > numWritten) this.#clear(first);
    for (let position = first + this.tokens.length; position < numWritten; position++) this.#add(log, position);
    if (this.numTokens !== numTokens) {
      this.tokens.forEach((token, i) => token.classList.toggle("kv-lost", first + i >= numTokens));
      this.numTokens = numTokens;
    }
    return this.element;
  }

  #clear(first) {
    for (const token of this.tokens) token.remove();
    Object.assign(this, { first, tokens: [], numTokens: -1 });
    say(this.skipped, first ? ` … ${first} before …` : "");
  }

  #add({ texts, blockSize }, position) {
    const isFirst = blockSize > 0 && position % blockSize === 0;
    const text = visible(texts.get(this.seq)?.[position] ?? "·");
    const className = isFirst ? "kv-token kv-first" : "kv-token";
    const data = { seq: this.seq, position, token: `${this.seq} ${position}` };
    const token = make("span", { className, data, dir: "auto" }, ...marked(text));
    this.tokens.push(token);
    this.element.append(token);
  }
}
