import { blockUse, filledAt } from "./split.js";
import { drawArrow } from "./arrows.js";
import { drawBadge } from "./badges.js";
import { drawTokens } from "./block_slots.js";
import { drawFill, drawLetter } from "./small_blocks.js";

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
  for (const { source, target } of marks.copies) drawArrow(paint, layout.rect(source), layout.rect(target));
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

const drawTile = (scene, { number, isHost, names, mark }) => {
  const { paint, layout, board, lit, known } = scene;
  const isCached = !isHost && board.cached.has(number);
  const stored = isCached ? board.stored.get(number) : board.filled(number);
  const filled = isHost ? hostFilled(names, layout.tile.slotCount) : stored;
  const shown = `${filled} ${isCached} ${mark?.kind} ${names.map((name) => name.number)}`;
  const place = isHost ? -number : number;
  if (known.get(place) === shown) return;
  const rect = layout.rect(number, isHost);
  if (known.has(place)) paint.clear(rect, isHost ? paint.palette.paper : paint.palette.surface);
  known.set(place, shown);
  const tile = { number, isHost, names, filled, isCached, rect };
  const isLit = Boolean(lit?.[isHost ? "hostBlocks" : "blocks"].has(number));
  const isDimmed = lit && !isLit && !names.some(({ seq }) => lit.owners.some((owner) => owner.seq === seq));
  paint.context.globalAlpha = isDimmed ? 0.35 : 1;
  PAINTERS[layout.detail](paint, layout, { ...tile, ...slotsIn(scene, tile, isLit) });
  if (mark) drawBadge(paint, layout, rect, mark);
  paint.context.globalAlpha = 1;
  if (isLit) paint.ring(rect, 1.5, { stroke: paint.palette.ink, line: lit.place.slot === null ? 2.5 : 1, radius: 6 });
};

const hostFilled = ([name], size) => (name ? filledAt(name, name.index, size) : 0);

/** Of a tile's slots: how many will be full at the end, what this step wrote, and which is pointed at, if one is. */
const slotsIn = ({ layout, marks, use, lit }, { number, isHost, filled }, isLit) => ({
  atEnd: isHost ? filled : (use?.get(number)?.atEnd ?? layout.tile.slotCount),
  written: isHost || lit ? null : marks.written,
  pointed: isLit ? lit.place.slot : null,
});

const PAINTERS = { tokens: drawTokens, letters: drawLetter, fill: drawFill };
