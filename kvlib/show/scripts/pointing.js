import { placeOfToken } from "./lit.js";
import { pointAt, walkItems } from "./walking.js";

/** Let pointer and keys choose places on the board, in the tables and in the texts: choose(place or null, where). */
export const choosePlaces = ({ board, boardElement, tables, texts, layout }, choose) => {
  const entryPlace = (item) => {
    if (!item) return null;
    const { seq, index } = item.dataset;
    const place = placeOfToken(board(), seq, Number(index) * board().log.blockSize);
    return place && { ...place, slot: null };
  };
  const tokenPlace = (item) => item && placeOfToken(board(), item.dataset.seq, Number(item.dataset.position));
  const chooseEntry = (item) => choose(entryPlace(item), tables);
  const chooseHere = (place) => choose(place, boardElement);
  const chooseToken = (item) => choose(tokenPlace(item), texts);
  pointAt(tables, ({ target }) => target.closest(".kv-entry"), chooseEntry);
  pointAt(texts, ({ target }) => target.closest(".kv-token"), chooseToken);
  walkItems(tables, ".kv-entry", chooseEntry);
  walkItems(texts, ".kv-token", chooseToken);
  pointAt(boardElement, ({ offsetX, offsetY }) => layout().placeAt(offsetX, offsetY), chooseHere);
  walkBoard(boardElement, layout, chooseHere);
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
