import { letterOf } from "./names.js";
import { blockUse, filledAt } from "./split.js";
import { drawBadge } from "./badges.js";

/**
 * Draw every block of a board, and the host's below, as far into detail as the layout has room for. `known` has what
 * each tile showed before (place -> text): where tiles are small, those that still show it are left alone.
 */
export const drawBlocks = (paint, layout, { board, marks, lit }, known) => {
  const isTokens = layout.detail === "tokens";
  const scene = { paint, layout, board, marks, lit, known, use: isTokens ? blockUse(board) : null };
  if (!known.size) drawGround(paint, layout);
  drawTiles(scene, board.tables, marks.blocks, { count: layout.count, isHost: false });
  drawTiles(scene, board.swapped, marks.hostBlocks, { count: layout.hostBlocks, isHost: true });
  if (!isTokens) return;
  const { ink } = paint.palette;
  for (const { source, target } of marks.copies) paint.arrow(layout.rect(source), layout.rect(target), ink);
};

const drawGround = (paint, { width, height, boardHeight, hostBlocks, hostTop }) => {
  const { surface, muted, grid } = paint.palette;
  paint.box({ x: 0, y: 0, width, height: boardHeight }, { fill: surface, radius: 8 });
  if (!hostBlocks) return;
  paint.text("on the host", 2, hostTop - 10, { size: 11.5, colour: muted });
  const host = { x: 0.5, y: hostTop, width: width - 1, height: height - hostTop - 0.5 };
  paint.box(host, { stroke: grid, radius: 8, dash: [4, 4] });
};

const drawTiles = (scene, tables, marked, { count, isHost }) => {
  const named = namesOf(tables, scene.board.numbers);
  for (let number = 1; number <= count; number++) {
    drawTile(scene, { number, isHost, names: named.get(number) ?? [], mark: marked.get(number) });
  }
};

/** block -> [{ seq, index, number }] of the table entries that name it. */
const namesOf = (tables, numbers) => {
  const named = new Map();
  for (const [seq, { blocks, numTokens }] of tables) {
    blocks.forEach((block, index) => {
      const name = { seq, index, number: numbers.get(seq), numTokens };
      if (named.has(block)) named.get(block).push(name);
      else named.set(block, [name]);
    });
  }
  return named;
};

const drawTile = (scene, tile) => {
  const { paint, layout, board, lit, known } = scene;
  const { number, isHost, names, mark } = tile;
  const isCached = !isHost && board.cached.has(number);
  const stored = isCached ? board.stored.get(number) : board.filled(number);
  const filled = isHost ? hostFilled(names, layout.tile.slotCount) : stored;
  const isLit = lit && lit.place.isHost === isHost && lit.place.number === number;
  const isDimmed = lit && !isLit && !names.some(({ seq }) => lit.owners.some((owner) => owner.seq === seq));
  const shown = `${filled} ${isCached} ${mark?.kind} ${names.map((name) => name.number)}`;
  const place = isHost ? -number : number;
  if (known.get(place) === shown) return;
  const rect = layout.rect(number, isHost);
  if (known.has(place)) paint.clear(rect, isHost ? paint.palette.paper : paint.palette.surface);
  known.set(place, shown);
  paint.context.globalAlpha = isDimmed ? 0.35 : 1;
  PAINTERS[layout.detail](scene, { ...tile, filled, isCached, rect });
  if (mark) drawBadge(paint, layout, rect, mark);
  paint.context.globalAlpha = 1;
  if (isLit) paint.ring(rect, 1.5, { stroke: paint.palette.ink, line: 2.5, radius: 6 });
};

const hostFilled = ([name], size) => (name ? filledAt(name, name.index, size) : 0);

const drawTokens = (scene, tile) => {
  const { number, isHost, names, filled, isCached, rect } = tile;
  const { paint, layout, use } = scene;
  const { ink, muted, grid, paper } = paint.palette;
  const colours = names.map((name) => paint.colour(name.number));
  paint.box(rect, { fill: paper, stroke: grid, radius: 5 });
  if (colours.length) paint.box(rect, { fill: colours[0], alpha: 0.1, radius: 5 });
  if (colours.length) paint.box(rect, { stroke: colours[0], radius: 5 });
  const size = layout.tile.width > 40 ? 11 : 9;
  paint.text(number, rect.x + 5, rect.y + 10, { size, colour: names.length ? ink : muted });
  drawLetters(paint, layout, tile);
  const atEnd = isHost ? filled : (use.get(number)?.atEnd ?? layout.tile.slotCount);
  for (let slot = 0; slot < layout.tile.slotCount; slot++) {
    const place = layout.slotRect(number, slot, isHost);
    if (slot < filled && isCached) {
      paint.context.globalAlpha *= 0.3;
      paint.pair(place, [muted], 0.9);
      paint.context.globalAlpha /= 0.3;
    } else if (slot < filled) {
      paint.pair(place, colours);
    } else {
      paint.holes(place, names.length && slot < atEnd ? colours[0] : grid);
      if (names.length && slot >= atEnd && !isHost) paint.strike(place, muted, false);
    }
  }
  if (!isHost) drawFresh(scene, tile);
};

/** Outline what the owners of a block have stored in it in this step, line by line. */
const drawFresh = ({ paint, layout, marks }, { number, names }) => {
  const { slotCount, slotColumns } = layout.tile;
  for (const { seq, index } of names) {
    const [start, stop] = marks.written.get(seq) ?? [0, 0];
    const last = Math.min(slotCount, stop - index * slotCount);
    for (let slot = Math.max(0, start - index * slotCount); slot < last; ) {
      const lineEnd = Math.min(last, (Math.floor(slot / slotColumns) + 1) * slotColumns);
      paint.fresh(layout.runRect(number, slot, lineEnd - 1));
      slot = lineEnd;
    }
  }
};

const drawLetters = (paint, layout, tile) => {
  const { rect, names } = tile;
  if (!names.length) return;
  const { ink, paper } = paint.palette;
  const size = layout.tile.width > 40 ? 12 : 10;
  let right = rect.x + rect.width - 5;
  if (names.length > 1) {
    paint.context.beginPath();
    paint.context.arc(right - 5, rect.y + 10, 6.5, 0, 2 * Math.PI);
    paint.context.fillStyle = ink;
    paint.context.fill();
    paint.text(names.length, right - 5, rect.y + 10.5, { size: 10, colour: paper, align: "center", bold: true });
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

const drawLetter = (scene, tile) => {
  const { paint, layout } = scene;
  const { names, rect } = tile;
  drawFill(scene, tile);
  if (!names.length) return;
  const letter = names.length > 1 ? String(names.length) : letterOf(names[0].number);
  const { ink, paper } = paint.palette;
  const size = Math.min(11, layout.tile.width * 0.62);
  const isOnColour = tile.filled * 2 > layout.tile.slotCount;
  const style = { size, colour: isOnColour ? paper : ink, align: "center", bold: true };
  paint.text(letter, rect.x + rect.width / 2, rect.y + rect.height / 2 + 0.5, style);
};

const drawFill = ({ paint, layout }, { names, filled, isCached, rect }) => {
  const { muted, grid, paper, ink } = paint.palette;
  const share = filled / layout.tile.slotCount;
  const part = { x: rect.x, y: rect.y + rect.height * (1 - share), width: rect.width, height: rect.height * share };
  paint.box(rect, { fill: paper, stroke: names.length ? paint.colour(names[0].number) : grid, radius: 2 });
  if (isCached) paint.box(part, { fill: muted, alpha: 0.3, radius: 2 });
  if (!names.length) return;
  paint.box(part, { fill: names.length > 1 ? ink : paint.colour(names[0].number), radius: 2 });
  if (layout.detail === "fill") paint.pattern(rect, names[0].number);
};

const PAINTERS = { tokens: drawTokens, letters: drawLetter, fill: drawFill };
