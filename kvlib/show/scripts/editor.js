const INDENT = "    ";

const insert = (text) => document.execCommand("insertText", false, text); // the one way that Undo knows of

const indentOfNextLine = (area) => {
  const line = area.value.slice(0, area.selectionStart).split("\n").at(-1);
  return line.match(/^ */)[0] + (line.trimEnd().endsWith(":") ? INDENT : "");
};

/** A place to change code in: Tab indents, but leaves after Escape; Enter keeps the indentation; Ctrl or Shift + Enter
 * calls `onRun`. */
export const editor = (code, label, onRun) => {
  const area = document.createElement("textarea");
  Object.assign(area, { value: code, className: "kv-editor", spellcheck: false, wrap: "off", autocapitalize: "off" });
  area.setAttribute("aria-label", label);
  area.setAttribute("autocorrect", "off");
  const fit = () => (area.rows = area.value.split("\n").length);
  let leaves = false;
  area.addEventListener("input", fit);
  area.addEventListener("keydown", (event) => {
    const { key, shiftKey, ctrlKey, metaKey } = event;
    if (key === "Enter" && (shiftKey || ctrlKey || metaKey)) onRun();
    else if (key === "Enter" && !event.isComposing) insert(`\n${indentOfNextLine(area)}`);
    else if (key === "Tab" && !shiftKey && !leaves) insert(INDENT);
    else {
      if (key !== "Shift") leaves = key === "Escape";
      return;
    }
    event.preventDefault();
  });
  area.addEventListener("blur", () => (leaves = false));
  fit();
  return area;
};
