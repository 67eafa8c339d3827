import { counted, listed, nameOf, numbered, quoted } from "./names.js";
import { filledAt, splitSlots } from "./split.js";
import { tellPosition } from "./telling.js";

/** The state at `position` of a history in sentences, a list of paragraphs, for those who do not see the picture. */
export const accountOf = (history, position) => {
  const last = tellPosition(history, position);
  const board = history.at(position);
  const { log } = history;
  const kind = log.numSlots
    ? `a memory of ${log.numSlots} slots in one piece`
    : `a memory of ${log.numBlocks} blocks of ${counted(log.blockSize, "slot")}`;
  return [
    `This is ${kind} in step ${board.step}, after ${position} of ${counted(history.length, "event")}. ${last}`,
    sayCounts(board),
    ...[...board.tables].map(([seq, table]) => sayTable(board, seq, table, "block")),
    ...[...board.swapped].map(([seq, table]) => sayTable(board, seq, table, "host block")),
    ...[...board.chunks].map(([seq, chunk]) => sayChunk(board, seq, chunk)),
    ...sayShared(board),
    ...sayCached(board),
  ];
};

/** What lights up with a place of the board, in words; `lit` as litBy gives it. */
export const tellLit = (board, { place, owners }) => {
  const { log } = board;
  if (log.numSlots) return tellSlot(board, place.number, owners);
  const block = `${place.isHost ? "Host block" : "Block"} ${place.number}`;
  const isCached = !place.isHost && board.cached.has(place.number);
  if (!owners.length) return `${block} is ${isCached ? "cached: its tokens can be found again" : "free"}.`;
  const tables = place.isHost ? board.swapped : board.tables;
  const [{ seq, index }] = owners;
  const filled = filledAt(tables.get(seq), index, log.blockSize);
  const named = listed(owners.map((owner) => `${nameOf(log, owner.seq)}'s logical block ${owner.index}`));
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
  const { stored, wanted } = chunks.get(seq);
  const name = nameOf(log, seq);
  if (index < stored) return `Slot ${slot} has ${name}'s token ${index}${said(log, seq, index)}.`;
  if (index < (log.finals.get(seq) ?? 0)) return `Slot ${slot} is reserved: ${name}'s token ${index} will come here.`;
  if (index < wanted) return `Slot ${slot} was given to ${name}, which will never use it: internal waste.`;
  return `Slot ${slot} is in the chunk of ${name} by rounding: external waste.`;
};

const said = (log, seq, position) => {
  const text = quoted(log, seq, position);
  return text && `, ${text}`;
};

const sayCounts = (board) => {
  const { log } = board;
  const names = (seqs) => listed([...seqs].map((seq) => nameOf(log, seq)));
  const use = splitSlots(board);
  return (
    `Running: ${names([...board.tables.keys(), ...board.chunks.keys()])}. Waiting: ${names(board.waiting)}. ` +
    `On the host: ${names(board.swapped.keys())}. Preemptions so far: ${board.numPreemptions}. ` +
    `Of ${counted(log.size, "slot")}, ${use.stored} store a token, ${use.reserved} are reserved for one, ` +
    `${use.internal} are internal waste, ${use.external} external, and ${use.free} are free.`
  );
};

const sayTable = (board, seq, table, noun) => {
  const size = board.log.blockSize;
  const { blocks, numTokens } = table;
  const where = `${nameOf(board.log, seq)} has ${counted(numTokens, "token")} in ${numbered(noun, blocks)}`;
  const last = filledAt(table, blocks.length - 1, size);
  const isFull = last === size ? "all full" : `the last with ${last} of ${size} filled`;
  return `${where}, ${isFull}.${sayText(board.log, seq, numTokens)}`;
};

const sayChunk = ({ log }, seq, { start, slots, wanted, stored }) =>
  `${nameOf(log, seq)} has ${counted(stored, "token")} in a chunk of ${counted(slots, "slot")} from slot ${start} ` +
  `on, ${wanted} of them asked for.${sayText(log, seq, stored)}`;

const sayText = (log, seq, numTokens) => {
  const text = (log.texts.get(seq) ?? []).slice(0, numTokens).join("").trim();
  return text && ` It reads: ${text}`;
};

const sayShared = ({ counts }) => {
  const shared = counts.flatMap((count, block) => (count > 1 ? [`block ${block} by ${count} sequences`] : []));
  return shared.length ? [`Shared: ${listed(shared)}.`] : [];
};

const sayCached = ({ cached }) =>
  cached.size ? [`Cached, named by nobody: ${numbered("block", [...cached])}.`] : [];
