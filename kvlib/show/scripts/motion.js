import { contextOf } from "./drawing.js";
import { filledAt } from "./split.js";
import { Paint } from "./paint.js";
import { bend } from "./arrows.js";
import { drawPair } from "./pins.js";

const DURATION = 450; // milliseconds
const MOST = 150; // effects at once

/** Short movements on a canvas of their own, above the board: tokens that appear, fly to another block, or are lost. */
export class Motion {
  constructor(canvas) {
    this.canvas = canvas;
    this.effects = [];
    this.frame = null;
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
  }

  /** Begin what `events` do to the memory `before` them; nothing where no motion is wanted, or could be seen. */
  begin({ before, events, layout, palette }) {
    if (this.still.matches || layout.detail !== "tokens" || events.length > MOST) return;
    const scene = { before, layout, colour: (seq) => palette.seqs[before.log.numbers.get(seq) % 6], palette };
    const started = performance.now();
    const effects = events.flatMap((event) => EFFECTS[event.kind]?.(scene, event) ?? []);
    this.effects.push(...effects.map((effect) => ({ ...effect, started })));
    this.effects.splice(0, this.effects.length - MOST);
    this.scene = { layout, palette };
    if (this.effects.length) this.frame ??= requestAnimationFrame((now) => this.#tick(now));
  }

  /** End all movement at once. */
  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
    this.effects = [];
    this.canvas.getContext("2d").clearRect(0, 0, this.canvas.width, this.canvas.height);
  }

  #tick(now) {
    const { layout, palette } = this.scene;
    const paint = new Paint(contextOf(this.canvas, layout), palette);
    this.effects = this.effects.filter(({ started }) => now - started < DURATION);
    for (const effect of this.effects) effect.draw(paint, Math.max(0, now - effect.started) / DURATION);
    this.frame = this.effects.length ? requestAnimationFrame((later) => this.#tick(later)) : null;
  }
}

const slotsOf = (layout, block, count, isHost = false) =>
  Array.from({ length: count }, (_, slot) => layout.slotRect(block, slot, isHost));

const appear = (slots, colour) => ({
  draw: (paint, t) => {
    paint.context.globalAlpha = 1 - t;
    for (const slot of slots) paint.ring(slot, 6 * t, { stroke: colour, line: 2, radius: 6 });
    paint.context.globalAlpha = 1;
  },
});

const vanish = (slots, colour) => ({
  draw: (paint, t) => {
    paint.context.globalAlpha = 1 - t;
    for (const slot of slots) drawPair(paint, { ...slot, y: slot.y + 6 * t * t }, [colour], 1 - t * 0.6);
    paint.context.globalAlpha = 1;
  },
});

const fly = (from, to, colour) => ({
  draw: (paint, t) => {
    const eased = t * t * (3 - 2 * t);
    const { x, y, width, height } = to[0] ?? {};
    if (to.length) paint.box({ x, y, width: width * to.length, height }, { fill: paint.palette.paper, radius: 0 });
    from.forEach((slot, i) => drawPair(paint, { ...slot, ...between(slot, to[i], eased) }, [colour]));
  },
});

const between = (from, to, t) => {
  const [bendX, bendY] = bend(from.x, from.y, to.x, to.y);
  const along = (a, b, c) => (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t ** 2 * c;
  return { x: along(from.x, bendX, to.x), y: along(from.y, bendY, to.y) };
};

const EFFECTS = {
  write: ({ before, layout, colour }, { seq, start, stop }) => {
    const { log, tables, chunks } = before;
    const positions = Array.from({ length: stop - start }, (_, i) => start + i);
    if (log.numSlots) {
      const start = chunks.get(seq)?.start ?? 0;
      return appear(positions.map((position) => layout.slotRect(start + position, 0)), colour(seq));
    }
    const blocks = tables.get(seq)?.blocks ?? [];
    const known = positions.filter((position) => Math.floor(position / log.blockSize) < blocks.length);
    const slot = (p) => layout.slotRect(blocks[Math.floor(p / log.blockSize)], p % log.blockSize);
    return appear(known.map(slot), colour(seq));
  },
  copy: ({ before, layout, colour }, { seq, source, target }) => {
    const count = before.filled(source);
    return fly(slotsOf(layout, source, count), slotsOf(layout, target, count), colour(seq));
  },
  evict: ({ before, layout, palette }, { block }) =>
    vanish(slotsOf(layout, block, before.stored.get(block) ?? 0), palette.muted),
  free: ({ before, layout, colour }, { seq, block, count }) =>
    count > 0 ? [] : vanish(slotsOf(layout, block, before.filled(block)), colour(seq)),
  release: ({ before, layout, colour }, { seq }) => {
    const { start, stored } = before.chunks.get(seq) ?? { start: 0, stored: 0 };
    return vanish(Array.from({ length: stored }, (_, i) => layout.slotRect(start + i, 0)), colour(seq));
  },
  swap: ({ before, layout, colour }, { seq, how, blocks, host_blocks: hostBlocks }) => {
    const table = (how === "out" ? before.tables : before.swapped).get(seq) ?? { numTokens: 0 };
    return blocks.map((block, i) => {
      const count = filledAt(table, i, before.log.blockSize);
      const ends = [slotsOf(layout, block, count), slotsOf(layout, hostBlocks[i], count, true)];
      return fly(...(how === "out" ? ends : ends.reverse()), colour(seq));
    });
  },
};
