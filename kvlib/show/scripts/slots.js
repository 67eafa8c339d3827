import { chunkUse } from "./split.js";
import { letterOf } from "./names.js";
import { drawFresh, drawHoles, drawPair, drawPointed, drawStrike } from "./pins.js";

/** Draw the slots of contiguous memory in rows, each chunk with its letter, and what each slot is used for. */
export const drawSlots = (paint, layout, { board, marks, lit }) => {
  const { palette } = paint;
  paint.box({ x: 0, y: 0, width: layout.width, height: layout.boardHeight }, { fill: palette.surface, radius: 8 });
  const gaps = board.chunks.gaps.flatMap(([start, size]) => Array.from({ length: size }, (_, i) => start + i));
  const useless = new Set(gaps);
  const taken = new Set();
  for (const [seq, chunk] of board.chunks) {
    paint.context.globalAlpha = lit && !lit.owners.some((owner) => owner.seq === seq) ? 0.35 : 1;
    drawChunk(paint, layout, board, seq, chunk);
    if (!lit && layout.detail !== "fill") outlineWritten(paint, layout, chunk, marks.written.get(seq));
    for (let slot = chunk.start; slot < chunk.start + chunk.slots; slot++) taken.add(slot);
  }
  for (let slot = 0; slot < layout.count; slot++) {
    paint.context.globalAlpha = lit && lit.place.number !== slot ? 0.35 : 1;
    if (!taken.has(slot)) drawEmpty(paint, layout, slot, useless.has(slot));
  }
  paint.context.globalAlpha = 1;
  drawRowNumbers(paint, layout);
  if (lit) outlineLit(paint, layout, board, lit.place);
};

/** The thick outline of the slot that is pointed at, or of a whole chunk. */
const outlineLit = (paint, layout, board, { number, seq }) => {
  const chunk = board.chunks.get(seq);
  if (chunk) for (const part of rowsOf(layout, chunk)) drawPointed(paint, part);
  else if (number !== undefined) drawPointed(paint, layout.slotRect(number, 0));
};

const drawEmpty = (paint, layout, slot, isUseless) => {
  const { grid, muted, paper } = paint.palette;
  const rect = layout.slotRect(slot, 0);
  if (layout.detail === "fill") {
    paint.ring(layout.rect(slot), -0.5, { fill: paper, stroke: isUseless ? muted : grid, radius: 1 });
  } else {
    drawHoles(paint, rect, grid);
  }
  if (isUseless) drawStrike(paint, rect, muted, true);
};

const drawChunk = (paint, layout, board, seq, chunk) => {
  const { muted, paper } = paint.palette;
  const number = board.numbers.get(seq);
  const colour = paint.colour(number);
  const { stored, reserved } = chunkUse(board.log, seq, chunk);
  const final = stored + reserved;
  for (const part of rowsOf(layout, chunk)) {
    paint.ring(part, -0.75, { fill: paper, radius: 5 });
    paint.ring(part, -0.75, { fill: colour, alpha: 0.1, stroke: colour, radius: 5 });
  }
  for (let position = 0; position < chunk.slots; position++) {
    const rect = layout.slotRect(chunk.start + position, 0);
    if (layout.detail === "fill") {
      const use = { colour, isStored: position < chunk.stored, isStruck: position >= final };
      drawFilledSlot(paint, layout.rect(chunk.start + position), use);
    } else if (position < chunk.stored) {
      drawPair(paint, rect, [colour]);
    } else {
      drawHoles(paint, rect, colour);
      if (position >= final) drawStrike(paint, rect, muted, position >= chunk.wanted);
    }
  }
  if (layout.detail === "fill") return;
  const { x, y } = layout.rect(chunk.start);
  paint.text(letterOf(number), x + 5, y + 8, { size: 12, colour, bold: true });
};

/** Outline what this step has stored in a chunk. */
const outlineWritten = (paint, layout, chunk, [start, stop] = [0, 0]) => {
  for (const part of rowsOf(layout, { start: chunk.start + start, slots: stop - start })) drawFresh(paint, part);
};

const drawFilledSlot = (paint, rect, { colour, isStored, isStruck }) => {
  if (isStored) paint.ring(rect, -1, { fill: colour, radius: 1 });
  else if (isStruck) drawStrike(paint, rect, paint.palette.muted, false);
};

/** The rectangles that a chunk covers, one in each row. */
const rowsOf = (layout, { start, slots }) => {
  const parts = [];
  for (let slot = start; slot < start + slots; ) {
    const end = Math.min(start + slots, (Math.floor(slot / layout.columns) + 1) * layout.columns);
    const rect = layout.slotRect(slot, 0);
    const last = layout.slotRect(end - 1, 0);
    const height = layout.detail === "fill" ? layout.tile.height : rect.height;
    parts.push({ x: rect.x, y: rect.y, width: last.x + last.width - rect.x, height });
    slot = end;
  }
  return parts;
};

const drawRowNumbers = (paint, layout) => {
  if (layout.detail === "fill") return;
  for (let first = 0; first < layout.count; first += layout.columns) {
    const last = Math.min(first + layout.columns, layout.count) - 1;
    const { x, y, width } = layout.rect(last);
    const style = { size: 10, colour: paint.palette.muted, align: "right" };
    paint.text(`${first}–${last}`, x + width - 2, y + 8, style);
  }
};
