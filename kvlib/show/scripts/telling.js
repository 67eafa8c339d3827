import { counted, listed, nameOf, numbered, quoted } from "./names.js";

/** One event in a sentence; `board` is the memory right after it. */
export const tellEvent = (board, event) => TELLERS[event.kind](board, event, nameOf(board.log, event.seq));

/** What a reader is told at `position` of a history: the last event and, where a step ends, what the step did. */
export const tellPosition = (history, position) => {
  if (position === 0) return "Nothing has happened yet. Play, or point at a block, a table entry or a word.";
  const sentence = tellEvent(history.at(position), history.log.events[position - 1]);
  const recent = history.recent(position);
  if (recent.length < 2 || history.stepAfter(position - 1) !== position) return sentence;
  return `${sentence} ${tellStep(history.log, recent)}`;
};

/** A step in a few words: who stored, took, let go, was preempted, swapped or has ended. */
const tellStep = (log, events) => {
  const of = (kind, more = () => true) => events.filter((event) => event.kind === kind && more(event));
  const names = (some) => listed([...new Set(some.map(({ seq }) => nameOf(log, seq)))]);
  const parts = [
    [of("write"), (some) => `${names(some)} stored ${counted(stored(some), "token")}`],
    [of("allocate"), (some) => `${names(some)} took ${counted(some.length, "block")}`],
    [of("share"), (some) => `${names(some)} shared ${counted(some.length, "block")}`],
    [of("copy"), (some) => `${counted(some.length, "block")} copied`],
    [of("evict"), (some) => `${counted(some.length, "cached block")} lost`],
    [of("preempt"), (some) => `${names(some)} preempted`],
    [of("swap", ({ how }) => how === "out"), (some) => `${names(some)} moved to the host`],
    [of("swap", ({ how }) => how === "in"), (some) => `${names(some)} came back`],
    [of("refuse"), (some) => `${names(some)} found no chunk`],
    [of("finish"), (some) => `${names(some)} ended`],
  ];
  const said = parts.filter(([some]) => some.length).map(([some, say]) => say(some));
  return `All of step ${events[0].step}: ${said.join("; ") || counted(events.length, "event")}.`;
};

const stored = (writes) => writes.reduce((sum, { start, stop }) => sum + stop - start, 0);

const others = (board, block, seq) =>
  listed(board.owners(block).filter((owner) => owner !== seq).map((owner) => nameOf(board.log, owner)));

const TELLERS = {
  arrive: (board, event, name) => `${name} arrives and waits for memory.`,

  allocate: (board, { index, block }, name) => `${name} takes block ${block} for its logical block ${index}.`,

  share: (board, { seq, index, block, count }, name) =>
    count === 1
      ? `${name} finds block ${block} still filled from before and takes it as its logical block ${index}.`
      : `${name} names block ${block}, as ${others(board, block, seq)} does, for its logical block ${index}: ` +
        `its count is ${count} now.`,

  copy: (board, { seq, index, source, target }, name) =>
    `${name} is about to write into block ${source}, which ${others(board, source, seq)} also names: ` +
    `the block is copied to ${target} first, which is ${name}'s logical block ${index} from now on.`,

  write: (board, event, name) => {
    const { seq, start, stop } = event;
    if (start === stop) return `${name} has nothing new to store.`;
    const tokens = stop - start > 1 ? `its tokens ${start} to ${stop - 1}` : `its token ${start}`;
    const text = stop - start === 1 && quoted(board.log, seq, start);
    return `${name} stores ${text ? `${text}, ` : ""}${tokens}${text ? "," : ""} in ${whereWritten(board, event)}.`;
  },

  free: (board, { seq, block, count }, name) => {
    if (count > 0) return `${name} lets go of block ${block}, which ${others(board, block, seq)} still names.`;
    const state = board.cached.has(block) ? "cached: what it holds can still be found" : "free";
    return `${name} lets go of block ${block}, which is ${state}.`;
  },

  evict: (board, { block }) => `Block ${block} is evicted: it is handed out again, and what was cached in it is lost.`,

  swap: (board, { how, blocks, host_blocks: hostBlocks }, name) => {
    const there = numbered("host block", hostBlocks);
    if (how === "out") return `${name} is swapped out: what ${numbered("block", blocks)} held goes to ${there}.`;
    if (how === "in") return `${name} is swapped in: what ${there} held comes back to ${numbered("block", blocks)}.`;
    return `${name} is dropped on the host: ${there} ${hostBlocks.length === 1 ? "is" : "are"} free.`;
  },

  preempt: (board, { how }, name) =>
    `Memory is short, so ${name} is preempted and has lost all its blocks: ` +
    (how === "swap" ? "its tokens wait on the host." : "its tokens will be computed again."),

  finish: (board, { reason }, name) => `${name} has ended (${reason}).`,

  reserve: (board, { start, slots, wanted }, name) =>
    `${name} asks for ${counted(wanted, "slot")} and gets a chunk from slot ${start} on` +
    (slots > wanted ? `, ${slots} long: ${slots - wanted} are lost to rounding.` : "."),

  release: (board, event, name) => `${name} gives its whole chunk back.`,

  refuse: (board, { slots, gaps }, name) => {
    const sizes = gaps.map(([, size]) => size);
    const found = sizes.length ? `the free gaps have ${listed(sizes)}` : "none is free";
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
