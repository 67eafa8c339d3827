import { filledAt } from "./split.js";
import { letGo, nameBlock, unusable } from "./naming.js";

/** How a sequence's whole table moves to the host, back, or is dropped there: as CHANGES of changes.js. */
export const SWAPS = {
  out(board, { seq, blocks, host_blocks: hostBlocks }, number) {
    const table = board.tables.get(seq) ?? { blocks: [], numTokens: 0 };
    if (board.swapped.has(seq)) return `${seq} is on the host already`;
    const why = unlike(seq, table, blocks) ?? unpaired(hostBlocks, blocks.length);
    if (why) return why;
    for (const block of blocks) letGo(board, block, number);
    board.swapped.set(seq, { ...table, blocks: [...hostBlocks] });
    board.tables.delete(seq);
    return null;
  },

  in(board, { seq, blocks, host_blocks: hostBlocks }) {
    const table = board.swapped.get(seq);
    const isBack = (block, i) => board.counts[block] > 0 && board.returned.get(block) === hostBlocks[i];
    const why =
      unlike(seq, table, hostBlocks) ??
      unpaired(blocks, hostBlocks.length) ??
      blocks.map((block, i) => (isBack(block, i) ? null : unusable(board, block))).find((each) => each);
    if (why) return why;
    for (const [i, block] of blocks.entries()) {
      nameBlock(board, block, filledAt(table, i, board.log.blockSize));
      board.returned.set(block, hostBlocks[i]);
    }
    board.tables.set(seq, { ...table, blocks: [...blocks] });
    board.swapped.delete(seq);
    return null;
  },

  dropped(board, { seq, host_blocks: hostBlocks }) {
    const why = unlike(seq, board.swapped.get(seq), hostBlocks);
    if (!why) board.swapped.delete(seq);
    return why;
  },
};

const unlike = (seq, table, blocks) => {
  if (!table) return `${seq} is not on the host`;
  const isEqual = table.blocks.length === blocks.length && table.blocks.every((block, i) => block === blocks[i]);
  return isEqual ? null : `${seq} has the blocks ${table.blocks.join(", ") || "none"}`;
};

const unpaired = (blocks, count) => {
  const areBlocks = blocks.every((block) => Number.isInteger(block) && block > 0);
  const isPaired = areBlocks && blocks.length === count && new Set(blocks).size === count;
  return isPaired ? null : "each of its blocks goes to one other block";
};
