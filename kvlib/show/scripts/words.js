import { accountOf } from "./account.js";
import { make, marked, say } from "./elements.js";
import { tellLit } from "./lit_words.js";
import { tellPosition } from "./telling.js";

/** What the machine says below its board: what has happened and, as long as something is lit, what that is. */
export class Words {
  constructor() {
    this.said = make("p", { className: "kv-said", dir: "auto" });
    this.seen = make("p", { className: "kv-seen", dir: "auto", ariaLive: "polite" });
    this.element = make("div", { className: "kv-words" }, this.seen, this.said);
  }

  /** Say what happened last; aloud only where a reader goes step by step, not while the machine plays. */
  tell(history, position, playing) {
    this.said.ariaLive = playing ? "off" : "polite";
    say(this.said, tellPosition(history, position));
  }

  /** Say what is lit at a board, or nothing. */
  tellLit(board, lit) {
    say(this.seen, lit ? tellLit(board, lit) : "");
  }
}

/** The whole state in words, where a reader opens it. */
export class Account {
  constructor() {
    this.text = make("div");
    const summary = make("summary", { textContent: "The state in words" });
    this.element = make("details", { className: "kv-account" }, summary, this.text);
    this.element.addEventListener("toggle", () => this.#write());
  }

  show(history, position) {
    Object.assign(this, { history, position });
    this.#write();
  }

  #write() {
    if (!this.element.open) return;
    const paragraphOf = (text) => make("p", { dir: "auto" }, ...marked(text));
    const paragraphs = accountOf(this.history, this.position).map(paragraphOf);
    this.text.replaceChildren(...paragraphs);
  }
}
