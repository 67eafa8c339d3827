const MARGIN = 10; // pixels, of the board around its tiles
const MOST_HEIGHT = { tokens: 430, letters: 600, fill: 600 }; // of a board, by what its tiles show
const MOST_ROWS_HEIGHT = 520; // and of one whose rows are given
const PAIR = 1.95; // height of a key above its value, in widths
const HOST_GAP = 24;

/** Where all lies on a board `width` pixels wide: a tile for each block or, in contiguous memory, for each slot. */
export class Layout {
  constructor(log, { width, row = 0, hostBlocks = 0 }) {
    this.isSlots = log.numSlots > 0;
    this.count = log.numSlots || log.numBlocks;
    this.first = this.isSlots ? 0 : 1;
    this.hostBlocks = hostBlocks;
    this.width = width;
    const shape = this.isSlots ? slotShape : blockShape(log.blockSize);
    const tileOf = (columns) => shape(Math.max(1, width - 2 * MARGIN) / columns, Math.ceil(this.count / columns));
    this.columns = this.isSlots && row > 0 ? Math.min(row, this.count) : bestColumns(this.count, tileOf);
    this.tile = tileOf(this.columns);
    this.left = (width - this.columns * this.tile.pitchX + this.tile.pitchX - this.tile.width) / 2;
    this.boardHeight = this.#heightOf(this.count);
    this.hostTop = this.boardHeight + HOST_GAP;
    this.height = hostBlocks ? this.hostTop + this.#heightOf(hostBlocks) : this.boardHeight;
  }

  get detail() {
    return this.tile.detail;
  }

  #heightOf(count) {
    const { height, pitchY } = this.tile;
    return 2 * MARGIN + (Math.ceil(count / this.columns) - 1) * pitchY + height;
  }

  /** The rectangle of a block (numbered from 1, here or on the host) or of a slot (numbered from 0). */
  rect(number, isHost = false) {
    const { width, height, pitchX, pitchY } = this.tile;
    const place = number - (isHost ? 1 : this.first);
    const top = (isHost ? this.hostTop : 0) + MARGIN;
    const y = top + Math.floor(place / this.columns) * pitchY;
    return { x: this.left + (place % this.columns) * pitchX, y, width, height };
  }

  /** The rectangle around slots `from` to `to`, both included, which are in one line of a block. */
  runRect(number, from, to, isHost = false) {
    const [first, last] = [from, to].map((slot) => this.slotRect(number, slot, isHost));
    return { ...first, width: last.x + last.width - first.x };
  }

  /** The rectangle of one slot, counted from 0, of a block; a key is in its upper half, a value in its lower. */
  slotRect(number, slot, isHost = false) {
    const { x, y } = this.rect(number, isHost);
    const { inset, header, cell, slotColumns } = this.tile;
    const line = Math.floor(slot / slotColumns);
    return {
      x: x + inset + (slot % slotColumns) * cell,
      y: y + header + line * cell * PAIR,
      width: cell,
      height: cell * PAIR,
    };
  }

  /** What lies under a point: { number, slot, isHost } of a block or slot (`slot` null between slots), or null. */
  placeAt(x, y) {
    const isHost = this.hostBlocks > 0 && y >= this.hostTop;
    const first = isHost ? 1 : this.first;
    const last = first + (isHost ? this.hostBlocks : this.count) - 1;
    const corner = this.rect(first, isHost);
    const column = Math.floor((x - corner.x) / this.tile.pitchX);
    const line = Math.floor((y - corner.y) / this.tile.pitchY);
    const number = first + line * this.columns + column;
    if (column < 0 || column >= this.columns || line < 0 || number > last) return null;
    return { number, slot: this.#slotAt(number, isHost, x, y), isHost };
  }

  #slotAt(number, isHost, x, y) {
    if (this.isSlots || this.detail !== "tokens") return null;
    const { cell, slotColumns, slotCount } = this.tile;
    const corner = this.slotRect(number, 0, isHost);
    const column = Math.floor((x - corner.x) / cell);
    const slot = Math.floor((y - corner.y) / (cell * PAIR)) * slotColumns + column;
    return column >= 0 && column < slotColumns && slot >= 0 && slot < slotCount ? slot : null;
  }
}

const blockShape = (size) => {
  const slotColumns = Math.ceil(size / Math.ceil(size / 8));
  const slotRows = Math.ceil(size / slotColumns);
  return (pitch) => {
    const gap = pitch > 28 ? 5 : pitch > 11 ? 2 : pitch > 2 ? 1 : 0;
    const width = Math.min(pitch - gap, 104, slotColumns * 19 + 14);
    const inset = width > 40 ? 6 : 3;
    const cell = (width - 2 * inset) / slotColumns;
    const hasTokens = cell >= 5 && width >= 24;
    const header = hasTokens ? 18 : 0;
    const height = hasTokens ? header + slotRows * cell * PAIR + inset : width;
    const detail = hasTokens ? "tokens" : width >= 10.5 ? "letters" : "fill";
    const slots = { inset, header, cell, slotColumns, slotCount: size };
    return { width, height, detail, pitchX: width + gap, pitchY: height + gap, ...slots };
  };
};

const slotShape = (pitch, numRows) => {
  const width = Math.max(Math.min(pitch, 12), Math.min(pitch, 26, (MOST_ROWS_HEIGHT / numRows - 20) / PAIR));
  const hasTokens = width >= 7;
  const header = hasTokens ? 16 : 0;
  const height = hasTokens ? header + width * PAIR : Math.max(6, width);
  const slots = { inset: 0, header, cell: width, slotColumns: 1, slotCount: 1 };
  return { width, height, detail: hasTokens ? "tokens" : "fill", pitchX: width, pitchY: height + 4, ...slots };
};

/** The number of tiles side by side that shows them largest, and leaves no ragged end if that costs little. */
const bestColumns = (count, tileOf) => {
  let best = { columns: count, score: 0 };
  for (let columns = 1; columns <= count; columns++) {
    const tile = tileOf(columns);
    const isTooHigh = Math.ceil(count / columns) * tile.pitchY > MOST_HEIGHT[tile.detail];
    const score = isTooHigh ? 0 : tile.width * (count % columns ? 0.7 : 1);
    if (score > 0 && score >= best.score) best = { columns, score };
  }
  return best.columns;
};
