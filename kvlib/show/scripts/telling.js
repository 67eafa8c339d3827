import { counted, listed, nameOf, numbered, quoted } from "./names.js";
import { tellStep } from "./step_words.js";

const START = "Nothing has happened yet. Play, or point at a block, a table entry or a word.";
const EMPTY_END = "All of it is free again. Go back to see it in use.";

/** What a reader is told at `position` of a history: the last event and, where a step ends, what the step did. */
export const tellPosition = (history, position) => {
  if (position === 0) return START;
  const board = history.at(position);
  const sentences = [tellEvent(board, history.log.events[position - 1], whyFreed(history.log, position - 1))];
  const recent = history.recent(position);
  if (recent.length > 1 && history.stepAfter(position - 1) === position) sentences.push(tellStep(history.log, recent));
  const isOver = position === history.log.events.length && position === history.length && history.log.numbers.size > 0;
  const { tables, chunks, swapped, waiting } = board;
  if (isOver && tables.size + chunks.size + swapped.size + waiting.length === 0) sentences.push(EMPTY_END);
  return sentences.join(" ");
};

/** One event in a sentence; `board` is the memory right after it, `why` the kind of event that a free belongs to. */
const tellEvent = (board, event, why) => TELLERS[event.kind](board, event, nameOf(board.log, event.seq), why);

/** The kind of the event that comes after a sequence has let go of its blocks, "preempt" or "finish", or undefined. */
const whyFreed = ({ events }, number) => {
  const { seq } = events[number];
  let next = number;
  while (events[next]?.kind === "free" && events[next].seq === seq) next++;
  return events[next]?.seq === seq ? events[next].kind : undefined;
};

const others = (board, block, seq) =>
  listed(board.owners(block).filter((owner) => owner !== seq).map((owner) => nameOf(board.log, owner)));

const LEAVES = { preempt: "gives up", finish: "ends and lets go of" };

const TELLERS = {
  arrive: (board, event, name) => `${name} comes and waits for memory.`,

  allocate: (board, { index, block }, name) => `${name} takes block ${block}: entry ${index} in its table.`,

  share: (board, { seq, index, block, count }, name) =>
    count === 1
      ? `${name} finds block ${block} still filled from before and takes it: entry ${index} in its table.`
      : `${name} names block ${block}, as ${others(board, block, seq)} does: entry ${index} in its table. ` +
        `The block's count is ${count} now.`,

  copy: (board, { seq, index, source, target }, name) =>
    `${name} is about to write into block ${source}, which ${others(board, source, seq)} also names: ` +
    `the block is copied to ${target} first, from now on entry ${index} in ${name}'s table.`,

  write: (board, event, name) => {
    const { seq, start, stop } = event;
    if (start === stop) return `${name} has nothing new to store.`;
    const tokens = stop - start > 1 ? `its tokens ${start} to ${stop - 1}` : `its token ${start}`;
    const text = stop - start === 1 && quoted(board.log, seq, start);
    return `${name} stores ${text ? `${text}, ` : ""}${tokens}${text ? "," : ""} in ${whereWritten(board, event)}.`;
  },

  free: (board, { seq, block, count }, name, why) => {
    const reason = why === "preempt" ? "Memory is short: " : "";
    const leaves = `${reason}${name} ${LEAVES[why] ?? "lets go of"} block ${block}`;
    if (count > 0) return `${leaves}, which ${others(board, block, seq)} still ${count > 1 ? "name" : "names"}.`;
    return `${leaves}, which is ${board.cached.has(block) ? "cached: what it holds can still be found" : "free"}.`;
  },

  evict: (board, { block }) => `Block ${block} is evicted: it is handed out again, and what was cached in it is lost.`,

  swap: (board, { how, blocks, host_blocks: hostBlocks }, name) => {
    const there = numbered("host block", hostBlocks);
    if (how === "out") return `Memory is short: what ${name} has in ${numbered("block", blocks)} goes to ${there}.`;
    if (how === "in") return `${name} is swapped in: what ${there} held comes back to ${numbered("block", blocks)}.`;
    return `${name} is dropped on the host: ${there} ${hostBlocks.length === 1 ? "is" : "are"} free.`;
  },

  preempt: (board, { how }, name) =>
    how === "swap"
      ? `So ${name} is preempted: it waits, and its tokens with it, on the host.`
      : `So ${name} is preempted: it has lost all its blocks and waits. Its tokens will be computed again.`,

  finish: (board, event, name) => `${name} has ended; its text goes.`,

  reserve: (board, { start, slots, wanted }, name) =>
    `${name} asks for ${counted(wanted, "slot")} and gets the chunk of slots ${start} to ${start + slots - 1}` +
    (slots > wanted ? `: ${slots - wanted} are lost to rounding.` : "."),

  release: (board, event, name) => `${name} gives its whole chunk back.`,

  refuse: (board, { slots, gaps }, name) => {
    const largest = Math.max(0, ...gaps.map(([, size]) => size));
    const found = largest ? `no gap left over has more than ${largest}` : "none is left over";
    return `${name} needs ${counted(slots, "slot")} in one piece and ${found}: it waits.`;
  },
};

const whereWritten = (board, { seq, start, stop }) => {
  const chunk = board.chunks.get(seq);
  if (chunk && stop - start === 1) return `slot ${chunk.start + start}`;
  if (chunk) return `slots ${chunk.start + start} to ${chunk.start + stop - 1}`;
  const size = board.log.blockSize;
  const blocks = board.tables.get(seq).blocks;
  return numbered("block", blocks.slice(Math.floor(start / size), Math.floor((stop - 1) / size) + 1));
};
