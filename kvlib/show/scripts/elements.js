/** A new element: its properties (`data` for data attributes, `aria` for ARIA ones) and what is in it. */
export const make = (name, { data = {}, aria = {}, ...properties } = {}, ...inside) => {
  const element = Object.assign(document.createElement(name), properties);
  Object.assign(element.dataset, data);
  for (const [attribute, value] of Object.entries(aria)) element.setAttribute(`aria-${attribute}`, value);
  element.append(...inside);
  return element;
};

/** Set the text of an element if it is another one, so that nothing is read twice. */
export const say = (element, text) => {
  if (element.textContent !== text) element.replaceChildren(...marked(text));
};

const HAN = /(\p{Script=Han}(?:[\p{Script=Han}\p{P}\s]*\p{Script=Han})?)/u;

/** A text as nodes, what is in Chinese characters marked as Chinese, so that it is read aloud as that. */
export const marked = (text) =>
  text.split(HAN).map((part, i) => (i % 2 ? make("span", { lang: "zh" }, part) : part));

/** Put `items` into an element, if it does not hold just these. */
export const fill = (element, items) => {
  const isSame = items.length === element.children.length && items.every((item, i) => item === element.children[i]);
  if (!isSame) element.replaceChildren(...items);
};

/** Scroll `container`, and nothing around it, so that `item` in it is seen. */
export const reveal = (container, item) => {
  const [inner, outer] = [item.getBoundingClientRect(), container.getBoundingClientRect()];
  container.scrollLeft += Math.max(0, inner.right - outer.right) + Math.min(0, inner.left - outer.left);
  container.scrollTop += Math.max(0, inner.bottom - outer.bottom) + Math.min(0, inner.top - outer.top);
};

/**
 * Light up those items of `container` that `isLit` says; and bring the first into view, unless the reader is there. With
 * none lit a container that no finger can scroll goes back to its top.
 */
export const lightUp = (container, selector, isLit, isThere) => {
  const items = [...container.querySelectorAll(selector)];
  for (const item of items) item.classList.toggle("kv-lit", isLit(item));
  const first = items.find((item) => item.classList.contains("kv-lit"));
  if (first && !isThere) reveal(container, first);
  if (!first && getComputedStyle(container).overflowY === "hidden") container.scrollTop = 0;
};
