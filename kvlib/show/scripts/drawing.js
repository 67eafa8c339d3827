import { Paint } from "./paint.js";
import { drawBlocks } from "./blocks.js";
import { drawSlots } from "./slots.js";

/** A canvas of CSS pixels `width` x `height`, sharp on any screen; what was on it stays unless `isFresh`. */
export const contextOf = (canvas, { width, height }, isFresh = true) => {
  const density = devicePixelRatio || 1;
  const [across, down] = [Math.round(width * density), Math.round(height * density)];
  if (canvas.width !== across || canvas.height !== down) {
    Object.assign(canvas, { width: across, height: down });
    Object.assign(canvas.style, { width: `${width}px`, height: `${height}px` });
  }
  const context = canvas.getContext("2d");
  context.setTransform(density, 0, 0, density, 0, 0);
  if (isFresh) context.clearRect(0, 0, width, height);
  return context;
};

/** The picture of a board on a canvas; where its tiles are small, only those that have changed are drawn again. */
export class Drawing {
  constructor(canvas) {
    this.canvas = canvas;
  }

  /** Draw a scene, { board, marks, lit }, as `layout` has it. */
  show(palette, layout, scene) {
    const isSame = palette === this.palette && layout === this.layout && !scene.lit && !this.wasLit;
    const isKept = isSame && layout.detail !== "tokens" && !layout.isSlots;
    Object.assign(this, { palette, layout, wasLit: Boolean(scene.lit), known: isKept ? this.known : new Map() });
    const paint = new Paint(contextOf(this.canvas, layout, !isKept), palette);
    if (layout.isSlots) drawSlots(paint, layout, scene);
    else drawBlocks(paint, layout, scene, this.known);
  }
}
