import { allocationWords, percent } from "./bench_readings.js";

const byNumber = (read) => {
  const groups = new Map();
  for (const reading of read.values()) {
    if (!groups.has(reading.number)) groups.set(reading.number, new Map());
    groups.get(reading.number).set(reading.allocation, reading);
  }
  return [...groups.values()];
};

const SHARE_OPTIONS = { falls: "it falls", same: "it stays the same", rises: "it rises" };

const shareAnswer = (read) => {
  const sizes = (group) => [...group.keys()].filter((it) => it !== "longest").sort((one, other) => one - other);
  const group = byNumber(read).find((group) => sizes(group).length > 1);
  if (!group) return null;
  const [small, large] = [sizes(group)[0], sizes(group).at(-1)].map((size) => group.get(size));
  const [before, after] = [small, large].map(({ stored, held }) => stored / held);
  const said = ({ allocation, stored, held }) => `${percent(stored, held)} with ${allocationWords(allocation)}`;
  const value = after < before ? "falls" : after > before ? "rises" : "same";
  return { value, words: `With ${small.number} sequences ${SHARE_OPTIONS[value]}: ${said(small)}, ${said(large)}.` };
};

const rowsAnswer = (read) => {
  const reading = [...read.values()].find(({ allocation, number }) => allocation === "longest" && number > 8);
  if (!reading) return null;
  const { most, number } = reading;
  const why = most === 8 ? " A ninth row would need 180 slots, and there are 176." : "";
  return { value: most === number ? "all" : `${most}`, words: `At most ${most} of ${number} at once.${why}` };
};

const roundsAnswer = (read) => {
  const compared = ["1", "16", "longest"];
  const group = byNumber(read).find((it) => compared.every((each) => it.has(each)) && it.get("1").number >= 24);
  if (!group) return null;
  const readings = compared.map((allocation) => group.get(allocation));
  const fewest = Math.min(...readings.map(({ rounds }) => rounds));
  const first = readings.filter(({ rounds }) => rounds === fewest).map(({ allocation }) => allocation);
  const said = readings.map(({ allocation, rounds }) => `${rounds} with ${allocationWords(allocation)}`);
  const words = `Rounds for ${group.get("1").number} sequences: ${said.join(", ")}.`;
  return { value: first.length === 1 ? first[0] : "same", words };
};

/** The three questions: `answer(read)` gives { value, words } once runs that answer it have been read, else null. */
export const QUESTIONS = [
  {
    ask: "Blocks become larger, from 1 token to 16. What becomes of the share of held slots that hold tokens?",
    options: SHARE_OPTIONS,
    answer: shareAnswer,
  },
  {
    ask: "No blocks: each sequence gets a row for the longest, 20 of the 176 slots. How many are in at once, at most?",
    options: { 8: "8", 11: "11", all: "all that come" },
    answer: rowsAnswer,
  },
  {
    ask: "Many sequences come. With which of these are all of them written in the fewest rounds?",
    options: { 1: "blocks of 1", 16: "blocks of 16", longest: "rows of 20", same: "all need the same" },
    answer: roundsAnswer,
  },
];
