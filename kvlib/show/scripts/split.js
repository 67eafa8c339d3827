/** What all slots are used for at a board: { stored, reserved, internal, external, free } in slots, with hindsight. */
export const splitSlots = (board) => (board.log.numSlots ? splitChunks(board) : splitBlocks(board));

/** How many of the first slots of each named block are full, and how many its owners will have filled at their end. */
export const blockUse = (board) => {
  const { blockSize, finals } = board.log;
  const use = new Map();
  for (const [seq, { blocks }] of board.tables) {
    const final = finals.get(seq) ?? 0;
    blocks.forEach((block, index) => {
      const filled = board.filled(block);
      const atEnd = Math.max(filled, Math.min(blockSize, final - index * blockSize));
      use.set(block, { filled, atEnd: Math.max(atEnd, use.get(block)?.atEnd ?? 0) });
    });
  }
  return use;
};

const splitBlocks = (board) => {
  const { blockSize, size } = board.log;
  const used = [...blockUse(board).values()];
  const stored = used.reduce((sum, { filled }) => sum + filled, 0);
  const atEnd = used.reduce((sum, block) => sum + block.atEnd, 0);
  const held = used.length * blockSize;
  return { stored, reserved: atEnd - stored, internal: held - atEnd, external: 0, free: size - held };
};

/** What the slots of one chunk are used for: { stored, reserved, internal, external } in slots. */
export const chunkUse = (log, seq, { slots, wanted, stored }) => {
  const final = Math.max(stored, Math.min(wanted, log.finals.get(seq) ?? 0));
  return { stored, reserved: final - stored, internal: wanted - final, external: slots - wanted };
};

const splitChunks = ({ chunks, log }) => {
  const uses = [...chunks].map(([seq, chunk]) => chunkUse(log, seq, chunk));
  const sum = (name) => uses.reduce((all, use) => all + use[name], 0);
  const gaps = chunks.gaps.reduce((all, [, size]) => all + size, 0);
  return {
    stored: sum("stored"),
    reserved: sum("reserved"),
    internal: sum("internal"),
    external: sum("external") + gaps,
    free: log.numSlots - chunks.numHeld - gaps,
  };
};

/** Filled slots of logical block `index` of a table, { numTokens }, in blocks of `size` slots. */
export const filledAt = ({ numTokens }, index, size) => Math.max(0, Math.min(size, numTokens - index * size));
