import { lightUp, make } from "./elements.js";
import { letterOf, visible } from "./names.js";

const MOST_TOKENS = 1500; // elements for all sequences together
const LEAST_TOKENS = 16;

/** The text of each sequence, one piece a token, in groups of a block; of long ones the end. */
export class Texts {
  constructor(history) {
    this.history = history;
    this.lines = new Map();
    this.element = make("div", {
      className: "kv-texts",
      tabIndex: 0,
      role: "group",
      ariaLabel: "Texts: arrow keys go from token to token",
    });
    this.element.hidden = history.log.texts.size === 0;
  }

  show(board, sequences) {
    if (this.element.hidden) return;
    const most = Math.max(LEAST_TOKENS, Math.floor(MOST_TOKENS / (this.history.mostRunning + 1)));
    const lines = sequences.filter(({ numTokens }) => numTokens > 0).map((one) => this.#line(board.log, one, most));
    if (lines.length !== this.element.children.length || lines.some((line, i) => line !== this.element.children[i])) {
      this.element.replaceChildren(...lines);
    }
  }

  #line(log, { seq, number, numTokens }, most) {
    const old = this.lines.get(seq);
    if (old?.numTokens === numTokens) return old.element;
    const element = old?.element ?? make("p", { className: `kv-text kv-seq-${number % 6}` });
    const first = Math.max(0, numTokens - most);
    const isLonger = old && old.numTokens < numTokens && first === 0;
    if (!isLonger) {
      const skipped = first ? ` … ${first} before …` : "";
      element.replaceChildren(make("b", { textContent: letterOf(number) }), skipped);
    }
    for (let position = isLonger ? old.numTokens : first; position < numTokens; position++) {
      element.append(token(log, seq, position));
    }
    this.lines.set(seq, { element, numTokens });
    return element;
  }

  light(lit, isThere) {
    lightUp(this.element, ".kv-token", (item) => Boolean(lit?.tokens.has(item.dataset.token)), isThere);
  }
}

const token = (log, seq, position) => {
  const piece = log.texts.get(seq)?.[position] ?? "·";
  const isFirst = log.blockSize > 0 && position % log.blockSize === 0;
  return make("span", {
    className: isFirst ? "kv-token kv-first" : "kv-token",
    data: { seq, position, token: `${seq} ${position}` },
    textContent: visible(piece),
  });
};
