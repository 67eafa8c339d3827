import { make } from "./elements.js";
import { radioGroup } from "./radio_group.js";
import { allocationWords } from "./bench_readings.js";

/** The words for a position of both levers, { allocation, number }. */
export const positionWords = ({ allocation, number }) => `${number} sequences, ${allocationWords(allocation)}`;

/** The two levers, as the traits of the bench have them: their `element`, and the `position` that they stand at. */
export const benchLevers = (model) => {
  const lever = (legend, options, chosen) => radioGroup({ legend, options, chosen, className: "kv-bench-lever" });
  const allocations = model.get("allocations").map((it) => [it, it === "longest" ? "no blocks: rows of 20" : it]);
  const allocation = lever("Tokens in a block", Object.fromEntries(allocations), "1");
  const numbers = model.get("numbers").map((it) => [it, it]);
  const number = lever("Sequences that come", Object.fromEntries(numbers), "24");
  return {
    element: make("div", { className: "kv-bench-levers" }, allocation.fieldset, number.fieldset),
    get position() {
      return { allocation: allocation.chosen, number: Number(number.chosen) };
    },
  };
};
