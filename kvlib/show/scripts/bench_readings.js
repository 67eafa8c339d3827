import { make } from "./elements.js";

/** The words for an allocation, "1" to "16" or "longest". */
export const allocationWords = (allocation) => (allocation === "longest" ? "rows of 20" : `blocks of ${allocation}`);

/** "85.5 %" for slots with tokens over slots held. */
export const percent = (stored, held) => `${stored === held ? "100" : ((100 * stored) / held).toFixed(1)} %`;

/** What has been read after `position` events of a run's readings [position, sequences, stored, held], or null. */
export const readUpTo = (readings, position) => {
  const rounds = readings.filter(([at]) => at <= position);
  if (!rounds.length) return null;
  const sum = (field) => rounds.reduce((total, reading) => total + reading[field], 0);
  return { most: Math.max(...rounds.map((reading) => reading[1])), stored: sum(2), held: sum(3), rounds: rounds.length };
};

/** A whole reading as a sentence. */
export const readingWords = ({ most, stored, held, rounds }) =>
  `at most ${most} at once, ${percent(stored, held)} of the held slots hold tokens, ${rounds} rounds.`;

/** The three readings of a run as three counters; show(reading or null) sets them. */
export const counters = () => {
  const values = {};
  const counter = (name, words) => {
    values[name] = make("dd", { data: { reading: name } }, "–");
    return make("div", {}, make("dt", {}, words), values[name]);
  };
  const list = make(
    "dl",
    {},
    counter("most", "most at once, so far"),
    counter("share", "held slots with tokens, so far"),
    counter("rounds", "rounds done"),
  );
  const show = (reading) => {
    values.most.textContent = reading ? reading.most : "–";
    values.share.textContent = reading ? percent(reading.stored, reading.held) : "–";
    values.rounds.textContent = reading ? reading.rounds : "–";
  };
  return { list, show };
};

/** The table of all that was read: show(read, newest) with read: name -> { allocation, number, most, ... }. */
export const readingsTable = (allocations) => {
  const body = make("tbody");
  const heads = ["sequences", "allocation", "most at once", "share with tokens", "rounds"];
  const head = make("tr", {}, ...heads.map((words) => make("th", { scope: "col" }, words)));
  const table = make(
    "table",
    {},
    make("caption", {}, "Read so far"),
    make("thead", {}, head),
    body,
  );
  const wrapper = make("div", { className: "kv-bench-table", hidden: true }, table);
  const row = (reading, isNewest) => {
    const { number, allocation, most, stored, held, rounds } = reading;
    const name = make("th", { scope: "row" }, `${number}`);
    const cells = [allocationWords(allocation), most, percent(stored, held), rounds];
    return make("tr", { aria: { current: isNewest } }, name, ...cells.map((cell) => make("td", {}, `${cell}`)));
  };
  const show = (read, newest) => {
    const place = ({ number, allocation }) => number * 100 + allocations.indexOf(allocation);
    const sorted = [...read.values()].sort((one, other) => place(one) - place(other));
    body.replaceChildren(...sorted.map((reading) => row(reading, reading === read.get(newest))));
    wrapper.hidden = !sorted.length;
  };
  return { wrapper, show };
};
