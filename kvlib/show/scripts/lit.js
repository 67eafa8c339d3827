/**
 * All that lights up with one place: `blocks` and `hostBlocks` (numbers), `owners`, `entries` ("seq index") and
 * `tokens` ("seq position"). A place is { number, slot, isHost }, as Layout.placeAt gives it, or { seq }; null lights
 * nothing.
 */
export const litBy = (board, place) => {
  if (!place) return null;
  const sets = { blocks: new Set(), hostBlocks: new Set(), entries: new Set(), tokens: new Set() };
  const lit = { place: { slot: null, ...place }, owners: [], ...sets };
  if (place.seq !== undefined) lightSequence(board, lit, place.seq);
  else if (board.log.numSlots) lightSlot(board, lit, place.number);
  else lightBlock(board, lit, place);
  return lit;
};

/** The place of token `position` of `seq`, or null if it is not stored. */
export const placeOfToken = (board, seq, position) => {
  const chunk = board.chunks.get(seq);
  if (chunk) return position < chunk.stored ? { number: chunk.start + position, slot: null, isHost: false } : null;
  const size = board.log.blockSize;
  const here = board.tables.get(seq);
  const table = here ?? board.swapped.get(seq);
  if (!table || position >= table.numTokens) return null;
  return { number: table.blocks[Math.floor(position / size)], slot: position % size, isHost: !here };
};

/** The place of entry `index` in the table of `seq`, or null if there is none. */
export const placeOfEntry = (board, seq, index) => {
  const here = board.tables.get(seq);
  const number = (here ?? board.swapped.get(seq))?.blocks[index];
  return number === undefined ? null : { number, slot: null, isHost: !here };
};

const lightBlock = (board, lit, { number, slot, isHost }) => {
  const size = board.log.blockSize;
  lit[isHost ? "hostBlocks" : "blocks"].add(number);
  for (const [seq, { blocks, numTokens }] of isHost ? board.swapped : board.tables) {
    const index = blocks.indexOf(number);
    if (index < 0) continue;
    lit.owners.push({ seq, index });
    lit.entries.add(`${seq} ${index}`);
    const from = index * size + (slot ?? 0);
    const to = slot === null ? (index + 1) * size : from + 1;
    lightTokens(lit, seq, from, Math.min(to, numTokens));
  }
};

const lightSlot = ({ chunks }, lit, number) => {
  const seq = chunks.owner(number);
  if (seq === undefined) return;
  const position = number - chunks.get(seq).start;
  lit.owners.push({ seq, index: position });
  lit.entries.add(`${seq} 0`);
  if (position < chunks.get(seq).stored) lightTokens(lit, seq, position, position + 1);
};

const lightSequence = (board, lit, seq) => {
  const here = board.tables.get(seq);
  const table = here ?? board.swapped.get(seq);
  lit.owners.push({ seq });
  for (const [index, block] of (table?.blocks ?? []).entries()) {
    lit[here ? "blocks" : "hostBlocks"].add(block);
    lit.entries.add(`${seq} ${index}`);
  }
  if (board.chunks.has(seq)) lit.entries.add(`${seq} 0`);
  lightTokens(lit, seq, 0, table?.numTokens ?? board.chunks.get(seq)?.stored ?? board.lengths.get(seq) ?? 0);
};

const lightTokens = (lit, seq, from, to) => {
  for (let position = from; position < to; position++) lit.tokens.add(`${seq} ${position}`);
};
