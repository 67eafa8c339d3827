import { counted, listed, nameOf, numbered, quoted } from "./names.js";
import { chunkUse, filledAt } from "./split.js";

/** What lights up with a place of the board, in words; `lit` as litBy gives it. */
export const tellLit = (board, { place, owners }) => {
  const { log } = board;
  if (place.seq !== undefined) return tellSequence(board, place.seq);
  if (log.numSlots) return tellSlot(board, place.number, owners);
  const block = `${place.isHost ? "Host block" : "Block"} ${place.number}`;
  const isCached = !place.isHost && board.cached.has(place.number);
  if (!owners.length) return `${block} is ${isCached ? "cached: its tokens can be found again" : "free"}.`;
  const tables = place.isHost ? board.swapped : board.tables;
  const [{ seq, index }] = owners;
  const filled = filledAt(tables.get(seq), index, log.blockSize);
  const named = listed(owners.map((owner) => `entry ${owner.index} in ${nameOf(log, owner.seq)}'s table`));
  const count = owners.length > 1 ? `, so its count is ${owners.length}` : "";
  const isToken = place.slot !== null && place.slot < filled;
  const position = index * log.blockSize + place.slot;
  const token = isToken ? ` Slot ${place.slot} has token ${position}${said(log, seq, position)}.` : "";
  return `${block} is ${named}${count}; ${filled} of ${counted(log.blockSize, "slot")} filled.${token}`;
};

const tellSlot = (board, slot, [owner]) => {
  const { log, chunks } = board;
  if (!owner) {
    const isUseless = chunks.gaps.some(([start, size]) => start <= slot && slot < start + size);
    const why = isUseless ? ", in a gap too small for the first that waits: external waste" : "";
    return `Slot ${slot} is free${why}.`;
  }
  const { seq, index } = owner;
  const { stored, reserved, internal } = chunkUse(log, seq, chunks.get(seq));
  const name = nameOf(log, seq);
  if (index < stored) return `Slot ${slot} has ${name}'s token ${index}${said(log, seq, index)}.`;
  if (index < stored + reserved) return `Slot ${slot} is reserved: ${name}'s token ${index} will come here.`;
  if (index < stored + reserved + internal) {
    return `Slot ${slot} was given to ${name}, which will never use it: internal waste.`;
  }
  return `Slot ${slot} is in the chunk of ${name} by rounding: external waste.`;
};

const said = (log, seq, position) => {
  const text = quoted(log, seq, position);
  return text && `, ${text}`;
};

/** Where a sequence has what it has stored. */
export const tellSequence = (board, seq) => {
  const { log, tables, swapped, chunks, lengths, waiting } = board;
  const name = nameOf(log, seq);
  const table = tables.get(seq) ?? swapped.get(seq);
  if (table) return tellTable(name, table, log.blockSize, tables.has(seq) ? "block" : "host block");
  if (chunks.has(seq)) return tellChunk(name, chunks.get(seq));
  if (!waiting.includes(seq)) return `${name} has no block.`;
  const again = lengths.has(seq) ? `; its ${counted(lengths.get(seq), "token")} will be computed again` : "";
  return `${name} waits for memory${again}.`;
};

const tellTable = (name, table, size, noun) => {
  const { blocks, numTokens } = table;
  const last = filledAt(table, blocks.length - 1, size);
  const isFull = last === size ? "all full" : `the last with ${last} of ${size} filled`;
  return `${name} has ${counted(numTokens, "token")} in ${numbered(noun, blocks)}, ${isFull}.`;
};

const tellChunk = (name, { start, slots, wanted, stored }) =>
  `${name} has ${counted(stored, "token")} in the chunk of slots ${start} to ${start + slots - 1}, ` +
  `${wanted} of them asked for.`;
