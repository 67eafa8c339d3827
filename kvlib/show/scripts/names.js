/** The name of the sequence with this number: A to Z, then A1 to Z1, and so on. */
export const letterOf = (number) => {
  const lap = Math.floor(number / 26);
  return String.fromCharCode(65 + (number % 26)) + (lap || "");
};

/** What a reader calls a sequence of `log`: its letter, or its id as long as it has never entered the memory. */
export const nameOf = (log, seq) => (log.numbers.has(seq) ? letterOf(log.numbers.get(seq)) : seq);

/** "1 block", "2 blocks". */
export const counted = (count, noun) => `${count} ${noun}${count === 1 ? "" : "s"}`;

/** "A", "A and B", "A, B and C"; "nobody" for none. */
export const listed = (words, none = "nobody") => {
  if (words.length < 2) return words.length ? String(words[0]) : none;
  return `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
};

/** "block 3", "blocks 3, 4 and 9". */
export const numbered = (noun, numbers) => `${noun}${numbers.length === 1 ? "" : "s"} ${listed(numbers)}`;

/** A token's text between quotation marks, or nothing where the log has none. */
export const quoted = (log, seq, position) => {
  const piece = log.texts.get(seq)?.[position];
  return piece === undefined ? "" : `“${visible(piece)}”`;
};

/** A piece of text with what would be invisible made visible. */
export const visible = (piece) => {
  const shown = piece.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(/\p{C}/gu, "�");
  return shown.trim() || "␣".repeat(Math.min(1, shown.length));
};
