import { LEGEND_NOTE, signsOf } from "./legend_words.js";
import { Paint } from "./paint.js";
import { SIGN_DRAWERS } from "./signs.js";
import { contextOf } from "./drawing.js";
import { make } from "./elements.js";

const SIZE = { width: 60, height: 34 };

/** What the signs of a machine mean, each drawn, where a reader opens it. */
export class Legend {
  constructor(history) {
    this.history = history;
    const summary = make("summary", { textContent: "What the signs mean" });
    this.list = make("dl");
    this.element = make("details", { className: "kv-legend" }, summary, this.list, make("p", {}, LEGEND_NOTE));
    this.element.addEventListener("toggle", () => this.#write());
  }

  /** Draw the signs in a palette's colours, for blocks in so much `detail`; now, or when they are seen. */
  draw(palette, detail) {
    Object.assign(this, { palette, detail });
    this.#write();
  }

  #write() {
    if (!this.element.open) return;
    const signs = signsOf(this.history.log, this.detail).map(([sign, name, meaning]) => {
      const canvas = make("canvas", { ariaHidden: "true" });
      SIGN_DRAWERS[sign](new Paint(contextOf(canvas, SIZE), this.palette), SIZE);
      return make("div", {}, make("dt", {}, canvas, name), make("dd", {}, meaning));
    });
    this.list.replaceChildren(...signs);
  }
}
