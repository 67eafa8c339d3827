const FEW = 12;
const LEAVING = ["free", "release", "finish", "preempt"];

/**
 * The sequences to show, in the order of entry: { seq, number, state, table, chunk, numTokens, numWritten }, the last
 * how many tokens it has ever stored. Those that wait to have their memory back keep their place; those that have left
 * keep it for the rest of the step, whose events so far are `recent`; those that wait for the first time are there
 * while a log has few.
 */
export const shownSequences = (board, recent) => {
  const { log, tables, swapped, chunks, waiting, lengths } = board;
  const all = [...log.numbers.keys()];
  const left = new Set(recent.filter(({ kind }) => LEAVING.includes(kind)).map(({ seq }) => seq));
  const ended = new Set(recent.filter(({ kind }) => kind === "finish").map(({ seq }) => seq));
  return all.flatMap((seq) => {
    const table = tables.get(seq) ?? swapped.get(seq);
    const chunk = chunks.get(seq);
    const numTokens = table?.numTokens ?? chunk?.stored ?? 0;
    const numWritten = Math.max(numTokens, lengths.get(seq) ?? 0);
    const one = { seq, number: log.numbers.get(seq), table, chunk, numTokens, numWritten };
    if (tables.has(seq) || chunk) return { ...one, state: "" };
    if (swapped.has(seq)) return { ...one, state: "on the host" };
    if (waiting.includes(seq)) return lengths.has(seq) || all.length <= FEW ? { ...one, state: "waits" } : [];
    return left.has(seq) ? { ...one, state: ended.has(seq) ? "has ended" : "" } : [];
  });
};
