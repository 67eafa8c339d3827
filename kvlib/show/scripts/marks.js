/**
 * What the events of one step did to blocks: `blocks` and `hostBlocks` (number -> { kind, seq, other }), and `written`
 * (seq -> [start, stop] of positions). Kinds: taken, shared, freed; copied, copy, evicted, in, which these do not hide;
 * preempted, out, which stand until somebody else has the block.
 */
export const marksOf = (events) => {
  const marks = { blocks: new Map(), hostBlocks: new Map(), written: new Map(), copies: [] };
  let justFreed = [];
  for (const event of events) {
    const before = justFreed;
    justFreed = event.kind === "free" ? [...before, event.block] : [];
    MARKERS[event.kind]?.(marks, event, before);
  }
  return marks;
};

const QUIET = ["taken", "shared", "freed"];
const GONE = ["preempted", "out"];

const mark = (marked, number, kind, seq, other = null) => {
  const old = marked.get(number)?.kind;
  const isHidden = old === undefined || QUIET.includes(old) || (GONE.includes(old) && kind !== "freed");
  if (!QUIET.includes(kind) || isHidden) marked.set(number, { kind, seq, other });
};

const MARKERS = {
  allocate: ({ blocks }, { block, seq }) => mark(blocks, block, "taken", seq),
  share: ({ blocks }, { block, seq }) => mark(blocks, block, "shared", seq),
  free: ({ blocks }, { block, seq }) => mark(blocks, block, "freed", seq),
  evict: ({ blocks }, { block }) => mark(blocks, block, "evicted", null),
  copy: ({ blocks, copies }, { seq, source, target }) => {
    mark(blocks, source, "copied", seq, target);
    mark(blocks, target, "copy", seq, source);
    copies.push({ source, target, seq });
  },
  write: ({ written }, { seq, start, stop }) => written.set(seq, [written.get(seq)?.[0] ?? start, stop]),
  swap: ({ blocks, hostBlocks }, { seq, how, blocks: here, host_blocks: there }) => {
    here.forEach((block, i) => mark(blocks, block, how, seq, there[i]));
    there.forEach((block, i) => mark(hostBlocks, block, how, seq, here[i] ?? null));
  },
  preempt: ({ blocks, written }, { seq }, justFreed) => {
    justFreed.forEach((block) => mark(blocks, block, "preempted", seq));
    written.delete(seq);
  },
};
