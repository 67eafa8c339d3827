import { drawCount } from "./block_slots.js";
import { drawBadge } from "./badges.js";
import { drawFresh, drawHoles, drawPair, drawPointed, drawStrike } from "./pins.js";

const SLOT = { width: 14, height: 27 };
const NUM_SLOTS = 3;

/** Each sign of a machine as draw(paint, { width, height }), which puts it into the middle of a canvas of that size. */
export const SIGN_DRAWERS = {
  stored: (paint, size) => threeSlots(size).forEach((slot) => drawPair(paint, slot, [paint.colour(0)])),
  reserved: (paint, size) => threeSlots(size).forEach((slot) => drawHoles(paint, slot, paint.colour(0))),
  internal: (paint, size) => drawStruck(paint, size, paint.colour(0), false),
  external: (paint, size) => drawStruck(paint, size, paint.palette.grid, true),
  free: (paint, size) => threeSlots(size).forEach((slot) => drawHoles(paint, slot, paint.palette.grid)),
  cached(paint, size) {
    paint.context.globalAlpha = 0.3;
    for (const slot of threeSlots(size)) drawPair(paint, slot, [paint.palette.muted], 0.9);
    paint.context.globalAlpha = 1;
  },
  fresh(paint, size) {
    SIGN_DRAWERS.stored(paint, size);
    drawFresh(paint, threeSlots(size).at(-1));
  },
  pointed(paint, size) {
    SIGN_DRAWERS.stored(paint, size);
    drawPointed(paint, threeSlots(size)[1]);
  },
  head(paint, size) {
    const { x, y } = drawFrame(paint, size);
    const style = { size: 12, colour: paint.palette.ink };
    paint.text("12", x + 6, y, style);
    paint.text("A1", size.width - 8, y, { ...style, colour: paint.colour(0), align: "right", bold: true });
  },
  entry(paint, size) {
    const style = { size: 12, colour: paint.palette.ink, align: "center" };
    paint.text("1 → 12", size.width / 2, size.height / 2 - 7, style);
    paint.text("●●●○", size.width / 2, size.height / 2 + 8, { ...style, size: 9, colour: paint.colour(0) });
  },
  count(paint, size) {
    const { y } = drawFrame(paint, size);
    drawCount(paint, size.width / 2, y, 2);
  },
  small(paint, size) {
    const rect = { x: size.width / 2 - 10, y: size.height / 2 - 10, width: 20, height: 20 };
    paint.box(rect, { stroke: paint.colour(0), radius: 2 });
    paint.box({ ...rect, y: rect.y + 8, height: 12 }, { fill: paint.colour(0), radius: 2 });
  },
  preempted: (paint, size) => drawMarked(paint, size, "preempted"),
  copied: (paint, size) => drawMarked(paint, size, "copied"),
  copy: (paint, size) => drawMarked(paint, size, "copy"),
  evicted: (paint, size) => drawMarked(paint, size, "evicted"),
  out: (paint, size) => drawMarked(paint, size, "out"),
  in: (paint, size) => drawMarked(paint, size, "in"),
};

const threeSlots = ({ width, height }) => {
  const left = (width - NUM_SLOTS * SLOT.width) / 2;
  const y = (height - SLOT.height) / 2;
  return Array.from({ length: NUM_SLOTS }, (_, place) => ({ x: left + place * SLOT.width, y, ...SLOT }));
};

const drawStruck = (paint, size, colour, isTwice) => {
  for (const slot of threeSlots(size)) {
    drawHoles(paint, slot, colour);
    drawStrike(paint, slot, paint.palette.muted, isTwice);
  }
};

/** A block's outline, and the middle of its left edge. */
const drawFrame = (paint, { width, height }) => {
  const rect = { x: 3, y: height / 2 - 12, width: width - 6, height: 24 };
  paint.box(rect, { fill: paint.colour(0), alpha: 0.1, stroke: paint.colour(0), radius: 5 });
  return { x: rect.x, y: height / 2 };
};

const drawMarked = (paint, { width, height }, kind) => {
  const rect = { x: 6, y: 4, width: width - 16, height: height - 12 };
  drawBadge(paint, { detail: "tokens" }, rect, { kind });
};
