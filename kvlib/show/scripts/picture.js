import { Drawing } from "./drawing.js";
import { Layout } from "./layout.js";
import { Motion } from "./motion.js";
import { make } from "./elements.js";
import { readPalette, watchTheme } from "./palette.js";

const MOST_SPEED = 8; // above it movements would only blur
const MOST_HOST = 4; // times as many blocks of the host are drawn as the memory has
const WIDTH = 320; // pixels, as long as it stands in no page

/** The board as it is seen: laid out for its width, in the page's colours; onChanged() is called when these change. */
export class Picture {
  constructor(history, model, onChanged) {
    Object.assign(this, { history, model });
    const { numSlots, numBlocks } = history.log;
    const [memory, place] = numSlots ? [`${numSlots} slots`, "slot"] : [`${numBlocks} blocks`, "block"];
    const ariaLabel = `Memory of ${memory}: arrow keys go from ${place} to ${place}`;
    const canvases = ["kv-picture", "kv-motion"].map((className) => make("canvas", { className, ariaHidden: "true" }));
    this.element = make("div", { className: "kv-board", tabIndex: 0, role: "application", ariaLabel }, ...canvases);
    this.drawing = new Drawing(canvases[0]);
    this.motion = new Motion(canvases[1]);
    this.stopTheme = watchTheme(onChanged);
    this.sizes = new ResizeObserver(onChanged);
    this.sizes.observe(this.element);
  }

  /** Lay out and choose colours anew; only what stands in a page has a width and colours. */
  fit() {
    this.palette = readPalette(this.element);
    const width = Math.floor(this.element.clientWidth) || this.layout?.width || WIDTH;
    const hostBlocks = Math.min(this.history.mostHostBlocks, MOST_HOST * this.history.log.numBlocks);
    this.layout = new Layout(this.history.log, { width, row: this.model.get("row"), hostBlocks });
    this.motion.stop();
  }

  /** Let be seen what happens from one position to another, if that goes forward and not too fast. */
  move(from, to, speed) {
    if (to < from) this.motion.stop();
    if (to <= from || speed > MOST_SPEED) return;
    const [before, events] = [this.history.at(from), this.history.log.events.slice(from, to)];
    this.motion.begin({ before, events, layout: this.layout, palette: this.palette });
  }

  /** Draw a scene, { board, marks, lit }. */
  show(scene) {
    this.drawing.show(this.palette, this.layout, scene);
  }

  close() {
    this.motion.stop();
    this.stopTheme();
    this.sizes.disconnect();
  }
}
