import { counted, listed, nameOf } from "./names.js";

const NAMED = 3; // more texts are only counted

/** A step in a few words: who came, stored, took, let go, was preempted, swapped or has ended. */
export const tellStep = (log, events) => {
  const of = (kind, more = () => true) => events.filter((event) => event.kind === kind && more(event));
  const said = PARTS.map(([kind, tell, how]) => {
    const some = of(kind, (event) => how === undefined || event.how === how);
    return some.length ? tell(some, who(log, some)) : null;
  });
  return `Step ${events[0].step} in all: ${said.filter(Boolean).join("; ")}.`;
};

const who = (log, some) => {
  const seqs = [...new Set(some.map(({ seq }) => seq))];
  if (seqs.length > NAMED) return `${seqs.length} texts`;
  return listed(seqs.map((seq) => nameOf(log, seq)));
};

const stored = (writes, names) => {
  const counts = writes.map(({ start, stop }) => stop - start);
  const sum = counts.reduce((all, count) => all + count, 0);
  const isOneEach = counts.length > 1 && counts.every((count) => count === 1);
  return isOneEach ? `${names} stored one token each` : `${names} stored ${counted(sum, "token")}`;
};

const PARTS = [
  ["arrive", (some, names) => `${names} came`],
  ["write", stored],
  ["allocate", (some, names) => `${names} took ${counted(some.length, "block")}`],
  ["reserve", (some, names) => `${names} got ${some.length === 1 ? "a chunk" : "chunks"}`],
  ["share", (some, names) => `${names} shared ${counted(some.length, "block")}`],
  ["copy", (some) => `${counted(some.length, "block")} copied`],
  ["evict", (some) => `${counted(some.length, "cached block")} lost`],
  ["preempt", (some, names) => `${names} preempted`],
  ["swap", (some, names) => `${names} moved to the host`, "out"],
  ["swap", (some, names) => `${names} came back`, "in"],
  ["refuse", (some, names) => `${names} found no chunk`],
  ["finish", (some, names) => `${names} ended`],
];
