/** Why `block` cannot be given to somebody, in a few words, or null. */
export const unusable = (board, block) => {
  if (block < 1 || block > board.log.numBlocks) return `the blocks are numbered 1 to ${board.log.numBlocks}`;
  return board.counts[block] ? `block ${block} belongs to ${board.owners(block).join(" and ")}` : null;
};

/** One table entry more names `block`, which holds `filled` tokens. */
export const nameBlock = (board, block, filled) => {
  board.counts[block] += 1;
  board.stored.set(block, filled);
  board.cached.delete(block);
};

/** One table entry less names `block`, by event `number`; what it held may still be found. */
export const letGo = (board, block, number) => {
  board.counts[block] -= 1;
  const isCached = board.counts[block] === 0 && board.log.isCached(number, block, board.stored.get(block));
  if (isCached) board.cached.add(block);
};

/** A block with `filled` tokens becomes the next entry in the table of `seq`; or why it cannot. */
export const enterTable = (board, { seq, index, block }, filled) => {
  const table = board.tables.get(seq) ?? { blocks: [], numTokens: 0 };
  if (index !== table.blocks.length) return `the next entry in the table of ${seq} is number ${table.blocks.length}`;
  table.blocks.push(block);
  table.numTokens += filled;
  board.tables.set(seq, table);
  nameBlock(board, block, filled);
  return null;
};
