import { letterOf } from "./names.js";
import { make } from "./elements.js";

/** The letter of a sequence, to point at. */
export const nameTag = (seq, number) => make("b", { className: "kv-name", data: { seq } }, letterOf(number));
