import { reveal } from "./elements.js";

/** Arrow keys, Home and End go through the items of an element: `onItem` is called with each, with null on leaving. */
export const walkItems = (element, selector, onItem) => {
  let current = null;
  const go = (items, place) => {
    current = items[Math.max(0, Math.min(items.length - 1, place))] ?? null;
    if (current) reveal(element, current);
    onItem(current);
  };
  element.addEventListener("keydown", (event) => {
    const items = [...element.querySelectorAll(selector)];
    const place = items.indexOf(current);
    const [next, last] = [place + 1, place - 1];
    const targets = { ArrowRight: next, ArrowDown: next, ArrowLeft: last, ArrowUp: last, Home: 0, End: items.length };
    if (!(event.key in targets) || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    go(items, targets[event.key]);
  });
  element.addEventListener("focusout", () => {
    current = null;
    onItem(null);
  });
};

/**
 * The pointer lights what it is over or, where it is a finger, what it touched last until that is touched again;
 * onItem(null) when it leaves.
 */
export const pointAt = (element, itemAt, onItem) => {
  let touched = null;
  element.addEventListener("pointermove", (event) => event.pointerType !== "touch" && onItem(itemAt(event)));
  element.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && onItem(null));
  element.addEventListener("click", (event) => {
    const item = itemAt(event);
    const isAgain = event.pointerType === "touch" && isSame(item, touched);
    touched = isAgain ? null : item;
    onItem(touched);
  });
  element.addEventListener("focusout", () => (touched = null));
};

const isSame = (item, other) =>
  item === other || (!(item instanceof Element) && JSON.stringify(item) === JSON.stringify(other));
