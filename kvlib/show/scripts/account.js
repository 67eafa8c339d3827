import { counted, listed, nameOf, numbered } from "./names.js";
import { splitSlots } from "./split.js";
import { tellSequence } from "./lit_words.js";
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
    ...[...board.tables, ...board.swapped].map(([seq, { numTokens }]) => sayText(board, seq, numTokens)),
    ...[...board.chunks].map(([seq, { stored }]) => sayText(board, seq, stored)),
    ...board.waiting.filter((seq) => board.lengths.has(seq)).map((seq) => tellSequence(board, seq)),
    ...sayShared(board),
    ...sayCached(board),
  ];
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

const sayText = (board, seq, numTokens) => {
  const text = (board.log.texts.get(seq) ?? []).slice(0, numTokens).join("").trim();
  return `${tellSequence(board, seq)}${text && ` It reads: ${text}`}`;
};

const sayShared = ({ counts }) => {
  const shared = counts.flatMap((count, block) => (count > 1 ? [`block ${block} by ${count} texts`] : []));
  return shared.length ? [`Shared: ${listed(shared)}.`] : [];
};

const sayCached = ({ cached }) =>
  cached.size ? [`Cached, named by nobody: ${numbered("block", [...cached])}.`] : [];
