/** A token in its slot: a round key above a square value, in the colours of all its owners side by side. */
export const drawPair = ({ context: c }, slot, colours, scale = 1) => {
  const parts = colours.slice(0, 4);
  for (const [part, colour] of parts.entries()) {
    c.save();
    if (parts.length > 1) {
      c.beginPath();
      c.rect(slot.x + (slot.width * part) / parts.length, slot.y, slot.width / parts.length, slot.height);
      c.clip();
    }
    c.fillStyle = colour;
    trace(c, slot, scale);
    c.fill();
    c.restore();
  }
};

/** An empty slot: the two holes of a pair. */
export const drawHoles = ({ context: c }, slot, colour) => {
  c.strokeStyle = colour;
  c.lineWidth = 1;
  trace(c, slot, 0.82);
  c.stroke();
};

const trace = (c, { x, y, width, height }, scale) => {
  const middle = x + width / 2;
  const radius = width * 0.36 * scale;
  const side = width * 0.64 * scale;
  c.beginPath();
  c.arc(middle, y + height * 0.25, radius, 0, 2 * Math.PI);
  c.rect(middle - side / 2, y + height * 0.74 - side / 2, side, side);
};

/** A slot struck out: once for internal waste, twice for external. */
export const drawStrike = ({ context: c }, { x, y, width, height }, colour, isTwice) => {
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
};

/** The thin outline of tokens that were stored in this step. */
export const drawFresh = (paint, rect) =>
  paint.ring(rect, -0.5, { stroke: paint.palette.ink, line: 1.25, radius: 5 });

/** The thick outline, on a band of paper, of the one slot that a reader points at. */
export const drawPointed = (paint, rect) => {
  const { ink, paper } = paint.palette;
  paint.ring(rect, 1.5, { stroke: paper, line: 6, radius: 6 });
  paint.ring(rect, 1.5, { stroke: ink, line: 3, radius: 6 });
};
