/** What a slot can be used for, in a sentence each; those of `log`'s kind of memory. */
export const usesOf = ({ numSlots }) => ({
  stored: "Holds a token: the key is round, the value square.",
  reserved: "Empty, and its text will fill it.",
  internal: "Empty for ever: its text ends before it gets there.",
  external: numSlots
    ? "Of no use: in a gap too small for the first that waits, or added to a chunk to round it up."
    : "Too small a gap for the next text. Blocks leave none.",
  free: numSlots ? "In nobody's chunk." : "In nobody's block.",
});
