import { placeOfEntry, placeOfToken } from "./lit.js";
import { pointAt, walkItems } from "./walking.js";

const ITEMS = ".kv-name, .kv-entry, .kv-token";

/** Let pointer and keys choose places on the board, in the tables and in the texts: choose(place or null, where). */
export const choosePlaces = ({ board, boardElement, tables, texts, layout }, choose) => {
  for (const part of [tables, texts]) {
    const chooseItem = (item) => choose(item && placeOf(board(), item.dataset), part);
    pointAt(part, ({ target }) => target.closest(ITEMS), chooseItem);
    walkItems(part, ITEMS, chooseItem);
  }
  const chooseHere = (place) => choose(place, boardElement);
  pointAt(boardElement, ({ offsetX, offsetY }) => layout().placeAt(offsetX, offsetY), chooseHere);
  walkBoard(boardElement, layout, chooseHere);
};

/** What an item stands for: a token, an entry of a table or, where that is not in the memory, a whole sequence. */
const placeOf = (board, { seq, index, position }) => {
  const token = position !== undefined && placeOfToken(board, seq, Number(position));
  const entry = index !== undefined && placeOfEntry(board, seq, Number(index));
  return token || entry || { seq };
};

/** Arrow keys go from block to block, or from slot to slot; Home and End to the first and the last. */
const walkBoard = (element, layout, choose) => {
  let number = null;
  const go = (to) => {
    const { first, count } = layout();
    number = Math.max(first, Math.min(first + count - 1, to));
    choose({ number, slot: null, isHost: false });
  };
  element.addEventListener("keydown", (event) => {
    const { first, count, columns } = layout();
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: columns, ArrowUp: -columns, Home: -count, End: count };
    if (event.key === "Escape") choose(null);
    if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(number === null ? first : number + steps[event.key]);
  });
  element.addEventListener("focusout", () => {
    number = null;
    choose(null);
  });
};
