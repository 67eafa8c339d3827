import { make } from "./elements.js";

let numGroups = 0;

/** A named group of radio buttons; options: value -> words. Gives its fieldset, the chosen value or null, and focus(). */
export const radioGroup = ({ legend, options, chosen = null, className = "" }) => {
  numGroups += 1;
  const name = `kv-radio-${numGroups}`;
  const inputs = Object.keys(options).map((value) =>
    make("input", { type: "radio", name, value, checked: value === chosen }),
  );
  const labels = inputs.map((input) => make("label", {}, input, make("span", {}, options[input.value])));
  return {
    fieldset: make("fieldset", { className }, make("legend", {}, legend), ...labels),
    get chosen() {
      return inputs.find((input) => input.checked)?.value ?? null;
    },
    focus: () => inputs[0].focus(),
  };
};
