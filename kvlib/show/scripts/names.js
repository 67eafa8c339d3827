/** The name of the sequence with this number: A to Z, AA to AZ, BA and so on; A1 is entry 1 of A's table. */
export const letterOf = (number) => {
  const lap = Math.floor(number / 26);
  return (lap ? letterOf(lap - 1) : "") + String.fromCharCode(65 + (number % 26));
};

/** What a reader calls a sequence of `log`: its letter, or its quoted id as long as it has never entered the memory. */
export const nameOf = (log, seq) => (log.numbers.has(seq) ? letterOf(log.numbers.get(seq)) : `“${seq}”`);

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

// Soft hyphens, joiners, variation selectors and tags belong to a word, unless they are all of it.
const UNSHOWN =
  /^[\u00ad\u200c\u200d\ufe00-\ufe0f]+$|(?![\u00ad\u200c\u200d\u{e0020}-\u{e007f}])\p{C}/gu;

/** A piece of text with what would be invisible made visible. */
export const visible = (piece) => {
  const shown = piece.replaceAll("\n", "⏎").replaceAll("\t", "⇥").replace(UNSHOWN, "�");
  return shown.trim() || "␣".repeat(Math.min(1, shown.length));
};
