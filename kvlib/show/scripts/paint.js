import { colourOf } from "./palette.js";

/** A canvas context with boxes and words in a palette's colours; `palette` as readPalette gives it. */
export class Paint {
  constructor(context, palette) {
    this.context = context;
    this.palette = palette;
  }

  colour(number) {
    return colourOf(this.palette, number);
  }

  /** A box with rounded corners. */
  box({ x, y, width, height }, { fill, stroke, line = 1, radius = 4, alpha = 1, dash = [] }) {
    const c = this.context;
    c.beginPath();
    c.roundRect(x, y, width, height, Math.max(0, Math.min(radius, width / 2, height / 2)));
    if (fill) {
      c.globalAlpha *= alpha;
      c.fillStyle = fill;
      c.fill();
      c.globalAlpha /= alpha;
    }
    if (stroke) {
      c.strokeStyle = stroke;
      c.lineWidth = line;
      c.setLineDash(dash);
      c.stroke();
      c.setLineDash([]);
    }
  }

  /** Only `colour` where a small tile was. */
  clear({ x, y, width, height }, colour) {
    this.context.fillStyle = colour;
    this.context.fillRect(x - 1, y - 1, width + 2, height + 2);
  }

  /** A box inside or around a rectangle: `by` pixels larger on each side, but never less than nothing. */
  ring(rect, larger, style) {
    const by = Math.max(larger, -rect.width / 2, -rect.height / 2);
    this.box({ x: rect.x - by, y: rect.y - by, width: rect.width + 2 * by, height: rect.height + 2 * by }, style);
  }

  disc(x, y, radius, colour) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.context.fillStyle = colour;
    this.context.fill();
  }

  text(text, x, y, { size, colour, align = "left", bold = false }) {
    const c = this.context;
    this.#useFont(size, bold);
    c.textAlign = align;
    c.textBaseline = "middle";
    c.fillStyle = colour;
    c.fillText(text, x, y);
  }

  width(text, size) {
    this.#useFont(size, true);
    return this.context.measureText(text).width;
  }

  #font;

  #useFont(size, bold) {
    const font = `${bold ? "600 " : ""}${size}px ${this.palette.font}`;
    if (font !== this.#font) this.context.font = this.#font = font; // to set it is slow, even to what it is
  }
}
