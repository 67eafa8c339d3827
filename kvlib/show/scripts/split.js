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

const splitChunks = ({ chunks, log }) => {
  const used = { stored: 0, reserved: 0, internal: 0, external: 0, free: log.numSlots };
  for (const [seq, { slots, wanted, stored }] of chunks) {
    const final = Math.max(stored, log.finals.get(seq) ?? 0);
    used.stored += stored;
    used.reserved += final - stored;
    used.internal += wanted - final;
    used.external += slots - wanted;
    used.free -= slots;
  }
  const gaps = chunks.gaps.reduce((sum, [, size]) => sum + size, 0);
  return { ...used, external: used.external + gaps, free: used.free - gaps };
};

/** Filled slots of logical block `index` of a table, { numTokens }, in blocks of `size` slots. */
export const filledAt = ({ numTokens }, index, size) => Math.max(0, Math.min(size, numTokens - index * size));
