import { counted } from "./names.js";
import { filledAt } from "./split.js";
import { SWAPS } from "./swaps.js";
import { enterTable, letGo, nameBlock, unusable } from "./naming.js";

/**
 * How each kind of event changes a board: (board, event, its number) -> why it cannot happen, in a few words, or null.
 * What cannot happen changes nothing.
 */
export const CHANGES = {
  arrive: ({ numbers, waiting }, { seq }) =>
    numbers.has(seq) || waiting.includes(seq) ? `${seq} has come before` : null,

  allocate: (board, event) => unusable(board, event.block) ?? enterTable(board, event, 0),

  share(board, event) {
    const { seq, block, count, filled } = event;
    const table = board.tables.get(seq);
    if (board.stored.get(block) !== filled) return `block ${block} stores ${board.stored.get(block) ?? 0} tokens`;
    if (board.counts[block] + 1 !== count) return `${board.counts[block]} tables name block ${block} before it`;
    if (table && roomIn(board, table)) return `the last block of ${seq} is not full`;
    if (table?.blocks.includes(block)) return `the table of ${seq} names block ${block} already`;
    return enterTable(board, event, filled);
  },

  copy(board, { seq, index, source, target }) {
    const blocks = board.tables.get(seq)?.blocks ?? [];
    if (blocks[index] !== source) return `entry ${index} in the table of ${seq} does not name block ${source}`;
    if (board.counts[source] < 2) return `block ${source} has no other owner`;
    const why = unusable(board, target);
    if (why) return why;
    blocks[index] = target;
    board.counts[source] -= 1;
    nameBlock(board, target, board.stored.get(source));
    return null;
  },

  write(board, event) {
    if (board.log.numSlots) return board.chunks.write(event);
    const { seq, start, stop } = event;
    const table = board.tables.get(seq);
    if (!table) return `${seq} holds no blocks`;
    if (start !== table.numTokens) return `the next token of ${seq} is number ${table.numTokens}`;
    const room = roomIn(board, table);
    if (stop < start || stop > start + room) return `the table of ${seq} has room for ${counted(room, "token")}`;
    const first = Math.floor(start / board.log.blockSize);
    const shared = table.blocks.slice(first).find((block) => board.counts[block] > 1);
    if (shared) return `block ${shared}, which it would write into, has another owner, too`;
    table.numTokens = stop;
    for (let index = first; index < table.blocks.length; index++) {
      board.stored.set(table.blocks[index], filledAt(table, index, board.log.blockSize));
    }
    return null;
  },

  free(board, { seq, block, count }, number) {
    const { blocks } = board.tables.get(seq) ?? { blocks: [] };
    const last = blocks.length - 1;
    if (last < 0) return `${seq} holds no blocks${board.counts[block] ? "" : `, and block ${block} is free`}`;
    if (blocks[last] !== block) return `${seq} frees its last block first, which is ${blocks[last]}`;
    if (board.counts[block] - 1 !== count) return `${board.counts[block]} tables name block ${block} before it`;
    const table = board.tables.get(seq);
    blocks.pop();
    table.numTokens = Math.min(table.numTokens, last * board.log.blockSize);
    letGo(board, block, number);
    if (last === 0) board.tables.delete(seq);
    return null;
  },

  evict(board, { block }) {
    const why = unusable(board, block);
    if (why) return why;
    if (!board.stored.get(block)) return `block ${block} holds nothing that could be lost`;
    board.stored.delete(block);
    board.cached.delete(block);
    return null;
  },

  swap: (board, event, number) =>
    Object.hasOwn(SWAPS, event.how)
      ? SWAPS[event.how](board, event, number)
      : "a swap goes out or in, or what is out is dropped",

  reserve: ({ chunks }, event) => chunks.reserve(event),
  refuse: ({ chunks }, event) => chunks.refuse(event),
  release: ({ chunks }, event) => chunks.release(event),

  preempt: (board, { seq }) => stillHeld(board, seq),
  finish: (board, { seq }) =>
    stillHeld(board, seq) ?? (board.swapped.has(seq) ? `${seq} still holds blocks on the host` : null),
};

const stillHeld = ({ tables, chunks }, seq) => {
  if (tables.has(seq)) return `${seq} still holds blocks ${tables.get(seq).blocks.join(", ")}`;
  return chunks.has(seq) ? `${seq} still holds its chunk` : null;
};

const roomIn = ({ log }, { blocks, numTokens }) => blocks.length * log.blockSize - numTokens;
