import { colourOf } from "./palette.js";

/** A canvas context with the strokes that the machine is drawn in; `palette` as readPalette gives it. */
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
    c.roundRect(x, y, width, height, Math.min(radius, width / 2, height / 2));
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

  /** A box inside and around a rectangle: `by` pixels larger on each side. */
  ring(rect, by, style) {
    this.box({ x: rect.x - by, y: rect.y - by, width: rect.width + 2 * by, height: rect.height + 2 * by }, style);
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

  /** A token in its slot: a round key above a square value, in the colours of all its owners side by side. */
  pair(slot, colours, scale = 1) {
    const c = this.context;
    const parts = colours.slice(0, 4);
    for (const [part, colour] of parts.entries()) {
      c.save();
      if (parts.length > 1) {
        c.beginPath();
        c.rect(slot.x + (slot.width * part) / parts.length, slot.y, slot.width / parts.length, slot.height);
        c.clip();
      }
      c.fillStyle = colour;
      this.#trace(slot, scale);
      c.fill();
      c.restore();
    }
  }

  /** An empty slot: the two holes of a pair. */
  holes(slot, colour, line = 1, scale = 0.82) {
    const c = this.context;
    c.strokeStyle = colour;
    c.lineWidth = line;
    this.#trace(slot, scale);
    c.stroke();
  }

  #trace({ x, y, width, height }, scale) {
    const c = this.context;
    const middle = x + width / 2;
    const radius = width * 0.36 * scale;
    const side = width * 0.64 * scale;
    c.beginPath();
    c.arc(middle, y + height * 0.25, radius, 0, 2 * Math.PI);
    c.rect(middle - side / 2, y + height * 0.74 - side / 2, side, side);
  }

  /** The outline of tokens that were stored in this step. */
  fresh(rect) {
    this.ring(rect, -0.5, { stroke: this.palette.ink, line: 1.5, radius: 5 });
  }

  /** A slot struck out: once for internal waste, twice for external. */
  strike({ x, y, width, height }, colour, isTwice) {
    const c = this.context;
    const by = width * 0.18;
    c.beginPath();
    c.moveTo(x + by, y + height - by);
    c.lineTo(x + width - by, y + by);
    if (isTwice) {
      c.moveTo(x + by, y + by);
      c.lineTo(x + width - by, y + height - by);
    }
    c.strokeStyle = colour;
    c.lineWidth = 1;
    c.stroke();
  }

  /** A bent arrow from the upper edge of one rectangle to that of another, on a band of paper. */
  arrow(from, to, colour) {
    const c = this.context;
    const [x1, y1, x2, y2] = [middleX(from), from.y + 4, middleX(to), to.y + 2];
    const [bendX, bendY] = bend(x1, y1, x2, y2);
    const angle = Math.atan2(y2 - bendY, x2 - bendX);
    const line = () => {
      c.beginPath();
      c.moveTo(x1, y1);
      c.quadraticCurveTo(bendX, bendY, x2, y2);
      c.stroke();
    };
    c.lineCap = "round";
    c.strokeStyle = this.palette.paper;
    c.lineWidth = 5;
    line();
    c.strokeStyle = c.fillStyle = colour;
    c.lineWidth = 2;
    line();
    c.beginPath();
    c.moveTo(x2 + 4 * Math.cos(angle), y2 + 4 * Math.sin(angle));
    for (const side of [2.6, -2.6]) c.lineTo(x2 + 9 * Math.cos(angle + side), y2 + 9 * Math.sin(angle + side));
    c.fill();
  }

  /** A mark of its own for each of six sequences, where there is no room for a letter. */
  pattern({ x, y, width, height }, number) {
    const c = this.context;
    const [right, bottom, middle, centre] = [x + width, y + height, y + height / 2, x + width / 2];
    const across = [x, middle, right, middle];
    const down = [centre, y, centre, bottom];
    const [x1, y1, x2, y2] = [[], across, down, [x, bottom, right, y], [x, y, right, bottom], []][number % 6];
    c.strokeStyle = c.fillStyle = this.palette.paper;
    c.lineWidth = 1.5;
    c.beginPath();
    c.moveTo(x1, y1);
    c.lineTo(x2, y2);
    c.stroke();
    if (number % 6 === 5) c.fillRect(centre - 1.5, middle - 1.5, 3, 3);
  }
}

const middleX = ({ x, width }) => x + width / 2;

/** The point towards which the way from one point to another bends. */
export const bend = (x1, y1, x2, y2) => {
  const [dx, dy] = [x2 - x1, y2 - y1];
  return [(x1 + x2) / 2 - dy * 0.2, Math.max(-5, (y1 + y2) / 2 - Math.min(60, Math.abs(dx) * 0.4))];
};
