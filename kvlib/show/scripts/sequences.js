const FEW = 12;

/**
 * The sequences to show, in the order of entry, each { seq, state, table, chunk, numTokens }. While a log has few of
 * them, those that wait and those that have ended keep their place; of many, only those that hold something are shown.
 */
export const shownSequences = (board) => {
  const { log, tables, swapped, chunks, waiting } = board;
  const all = [...log.numbers.keys()];
  return all.flatMap((seq) => {
    const table = tables.get(seq) ?? swapped.get(seq);
    const chunk = chunks.get(seq);
    const numTokens = table?.numTokens ?? chunk?.stored ?? 0;
    const one = { seq, table, chunk, numTokens, number: log.numbers.get(seq) };
    if (tables.has(seq) || chunk) return { ...one, state: "" };
    if (swapped.has(seq)) return { ...one, state: "on the host" };
    return waiting.includes(seq) && all.length <= FEW ? { ...one, state: "waits" } : [];
  });
};
