import { usesOf } from "./uses.js";

/** What a legend says of all signs together. */
export const LEGEND_NOTE =
  "The machine plays a recorded run, so it knows where each text ends; a server does not. Single arrows go by events: " +
  "a block is taken, a token stored. Double arrows go by steps, in which each running text may store a token. Blocks " +
  "are counted from 1, all else from 0.";

/** The signs that a machine of `log` needs, its blocks in so much `detail`: each [its drawer, name, meaning]. */
export const signsOf = (log, detail) => {
  const happened = new Set(log.events.flatMap((event) => [event?.kind, `${event?.kind} ${event?.how}`]));
  const uses = Object.entries(usesOf(log)).map(([name, meaning]) => [name, name, meaning]);
  const others = Object.entries(SEEN).flatMap(([when, signs]) => (happened.has(when) ? signs : []));
  if (detail !== "tokens") return [...uses, ...SMALL, ...others];
  return [...uses, ...RINGS, ...(log.numSlots ? CHUNK : BLOCK), ...others];
};

const RINGS = [
  ["fresh", "thin ring", "Stored in this step."],
  ["pointed", "thick ring", "What you point at. Point at a letter to see a whole text."],
];

const CHUNK = [["reserved", "chunk", "The slots in one piece that one text has asked for and got."]];

const BLOCK = [
  ["head", "12 A1", "Block 12 of the memory. In the table of text A it is entry 1."],
  ["entry", "1 → 12", "The same, in the table. Three slots of that block are filled."],
];

const SMALL = [["small", "small block", "Filled as far as its slots are, marked with its text's letter or pattern."]];

const SEEN = {
  share: [
    ["count", "2", "Two tables name the block."],
    ["cached", "cached", "In no table, but what the block holds can still be found."],
  ],
  "preempt recompute": [["preempted", "preempted", "Taken from a text, which waits and will compute it again."]],
  copy: [
    ["copied", "copied", "Two tables named this block and one text was about to write: it was copied."],
    ["copy", "copy", "And this is the copy."],
  ],
  evict: [["evicted", "evicted", "What was cached here is lost."]],
  "swap out": [["out", "out", "Moved to the host, the memory beside the processor's own."]],
  "swap in": [["in", "in", "Moved back from there."]],
};
