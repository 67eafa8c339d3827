import { letterOf } from "./names.js";

/** A block too small for its slots: how full it is, and its owner's letter or how many own it. */
export const drawLetter = (paint, layout, tile) => {
  const { names, rect } = tile;
  fillUp(paint, layout, tile);
  if (!names.length) return;
  const letter = names.length > 1 ? String(names.length) : letterOf(names[0].number);
  const { ink, paper } = paint.palette;
  const size = Math.min(11, layout.tile.width * 0.62);
  const isOnColour = tile.filled * 2 > layout.tile.slotCount;
  const style = { size, colour: isOnColour ? paper : ink, align: "center", bold: true };
  paint.text(letter, rect.x + rect.width / 2, rect.y + rect.height / 2 + 0.5, style);
};

/** A block too small for a letter: how full it is, with a pattern for its owner. */
export const drawFill = (paint, layout, tile) => {
  fillUp(paint, layout, tile);
  if (tile.names.length) drawPattern(paint, tile.rect, tile.names[0].number);
};

const fillUp = (paint, layout, { names, filled, isCached, rect }) => {
  const { muted, grid, paper, ink } = paint.palette;
  const share = filled / layout.tile.slotCount;
  const part = { x: rect.x, y: rect.y + rect.height * (1 - share), width: rect.width, height: rect.height * share };
  paint.box(rect, { fill: paper, stroke: names.length ? paint.colour(names[0].number) : grid, radius: 2 });
  if (isCached) paint.box(part, { fill: muted, alpha: 0.3, radius: 2 });
  if (names.length) paint.box(part, { fill: names.length > 1 ? ink : paint.colour(names[0].number), radius: 2 });
};

/** A mark of its own for each of six sequences. */
const drawPattern = ({ context: c, palette }, { x, y, width, height }, number) => {
  const [right, bottom, middle, centre] = [x + width, y + height, y + height / 2, x + width / 2];
  const across = [x, middle, right, middle];
  const down = [centre, y, centre, bottom];
  const [x1, y1, x2, y2] = [[], across, down, [x, bottom, right, y], [x, y, right, bottom], []][number % 6];
  c.strokeStyle = c.fillStyle = palette.paper;
  c.lineWidth = 1.5;
  c.beginPath();
  c.moveTo(x1, y1);
  c.lineTo(x2, y2);
  c.stroke();
  if (number % 6 === 5) c.fillRect(centre - 1.5, middle - 1.5, 3, 3);
};
