import { letterOf } from "./names.js";
import { drawFresh, drawHoles, drawPair, drawPointed, drawStrike } from "./pins.js";

/** A block large enough for its slots: its number, its owners and, in each slot, a token or what it is empty for. */
export const drawTokens = (paint, layout, tile) => {
  const { number, isHost, names, rect } = tile;
  const { ink, muted, grid, paper } = paint.palette;
  const colours = names.map((name) => paint.colour(name.number));
  paint.box(rect, { fill: paper, stroke: grid, radius: 5 });
  if (colours.length) paint.box(rect, { fill: colours[0], alpha: 0.1, stroke: colours[0], radius: 5 });
  const size = layout.tile.width > 40 ? 11 : 9;
  paint.text(number, rect.x + 5, rect.y + 10, { size, colour: names.length ? ink : muted });
  drawHead(paint, layout, tile);
  for (let slot = 0; slot < layout.tile.slotCount; slot++) {
    drawSlot(paint, layout.slotRect(number, slot, isHost), tile, slot, colours);
  }
  if (tile.written) outlineFresh(paint, layout, tile);
  if (tile.pointed !== null) drawPointed(paint, layout.slotRect(number, tile.pointed, isHost));
};

const drawSlot = (paint, place, { isHost, names, filled, isCached, atEnd }, slot, colours) => {
  const { muted, grid } = paint.palette;
  if (slot < filled && isCached) {
    paint.context.globalAlpha *= 0.3;
    drawPair(paint, place, [muted], 0.9);
    paint.context.globalAlpha /= 0.3;
  } else if (slot < filled) {
    drawPair(paint, place, colours);
  } else {
    drawHoles(paint, place, names.length && slot < atEnd ? colours[0] : grid);
    if (names.length && slot >= atEnd && !isHost) drawStrike(paint, place, muted, false);
  }
};

/** Outline what the owners of a block have stored in it in this step, line by line. */
const outlineFresh = (paint, layout, { number, names, written }) => {
  const { slotCount, slotColumns } = layout.tile;
  for (const { seq, index } of names) {
    const [start, stop] = written.get(seq) ?? [0, 0];
    const last = Math.min(slotCount, stop - index * slotCount);
    for (let slot = Math.max(0, start - index * slotCount); slot < last; ) {
      const lineEnd = Math.min(last, (Math.floor(slot / slotColumns) + 1) * slotColumns);
      drawFresh(paint, layout.runRect(number, slot, lineEnd - 1));
      slot = lineEnd;
    }
  }
};

/** Above the slots: the letters of the owners, each with its entry's number, or how many own the block. */
const drawHead = (paint, layout, tile) => {
  const { rect, names } = tile;
  if (!names.length) return;
  const size = layout.tile.width > 40 ? 12 : 10;
  let right = rect.x + rect.width - 5;
  if (names.length > 1) {
    drawCount(paint, right - 5, rect.y + 10, names.length);
    right -= 15;
  }
  const room = right - rect.x - 6 - paint.width(String(tile.number), size - 1);
  const isShort = names.length > 1 || layout.tile.width < 36;
  const words = names.map(({ number, index }) => letterOf(number) + (isShort ? "" : index));
  while (words.length > 1 && paint.width(words.join(""), size) > room) words.pop();
  words.reverse().forEach((word, i) => {
    const colour = paint.colour(names[words.length - 1 - i].number);
    paint.text(word, right, rect.y + 10, { size, colour, align: "right", bold: true });
    right -= paint.width(word, size);
  });
};

/** How many tables name a block, in a dark disc around a point. */
export const drawCount = (paint, x, y, count) => {
  const { ink, paper } = paint.palette;
  paint.disc(x, y, 6.5, ink);
  paint.text(count, x, y + 0.5, { size: 10, colour: paper, align: "center", bold: true });
};
