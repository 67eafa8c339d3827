/**
 * All that lights up with one place: `blocks` (numbers here), `hostBlocks`, `owners`, `entries` ("seq index") and
 * `tokens` ("seq position"). A place is { number, slot, isHost }, as Layout.placeAt gives it; null lights nothing.
 */
export const litBy = (board, place) => {
  if (!place) return null;
  return board.log.numSlots ? litBySlot(board, place.number) : litByBlock(board, place);
};

/** The place of token `position` of `seq`, or null if it is not stored. */
export const placeOfToken = (board, seq, position) => {
  const chunk = board.chunks.get(seq);
  if (chunk) return { number: chunk.start + position, slot: null, isHost: false };
  const size = board.log.blockSize;
  const here = board.tables.get(seq);
  const table = here ?? board.swapped.get(seq);
  if (!table || position >= table.numTokens) return null;
  return { number: table.blocks[Math.floor(position / size)], slot: position % size, isHost: !here };
};

const litByBlock = (board, place) => {
  const { number, slot, isHost } = place;
  const size = board.log.blockSize;
  const lit = { place, owners: [], entries: new Set(), tokens: new Set() };
  for (const [seq, { blocks, numTokens }] of isHost ? board.swapped : board.tables) {
    const index = blocks.indexOf(number);
    if (index < 0) continue;
    lit.owners.push({ seq, index });
    lit.entries.add(`${seq} ${index}`);
    const from = index * size + (slot ?? 0);
    const to = slot === null ? (index + 1) * size : from + 1;
    for (let position = from; position < Math.min(to, numTokens); position++) lit.tokens.add(`${seq} ${position}`);
  }
  return lit;
};

const litBySlot = (board, number) => {
  const seq = board.chunks.owner(number);
  const place = { number, slot: null, isHost: false };
  const lit = { place, owners: [], entries: new Set(), tokens: new Set() };
  if (seq === undefined) return lit;
  const position = number - board.chunks.get(seq).start;
  lit.owners.push({ seq, index: position });
  lit.entries.add(`${seq} 0`);
  if (position < board.chunks.get(seq).stored) lit.tokens.add(`${seq} ${position}`);
  return lit;
};
