const COLOURS = ["paper", "surface", "ink", "muted", "grid"];
const SEQUENCES = ["a", "b", "c", "d", "e", "f"];

/** The page's colours as a canvas understands them: paper, surface, ink, muted, grid, and `seqs`, six of them. */
export const readPalette = (element) => {
  const probe = element.appendChild(document.createElement("span"));
  const style = getComputedStyle(probe);
  const colour = (name) => {
    probe.style.color = `var(--kv-${name})`;
    return style.color;
  };
  const named = COLOURS.map((name) => [name, colour(name)]);
  const seqs = SEQUENCES.map((letter) => colour(`seq-${letter}`));
  const palette = { ...Object.fromEntries(named), seqs, font: style.fontFamily };
  probe.remove();
  return palette;
};

/** The colour of the sequence with this number; after six they begin again. */
export const colourOf = (palette, number) => palette.seqs[number % palette.seqs.length];

/** Calls `onChange` whenever the page's theme or the screen's density changes; returns how to stop that. */
export const watchTheme = (onChange) => {
  const observer = new MutationObserver(onChange);
  const attributes = ["class", "style", "data-theme", "theme", "data-jp-theme-name", "data-jp-theme-light"];
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: attributes });
  }
  const queries = ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((query) => matchMedia(query));
  queries.forEach((query) => query.addEventListener("change", onChange));
  const stopDensity = watchDensity(onChange);
  return () => {
    observer.disconnect();
    queries.forEach((query) => query.removeEventListener("change", onChange));
    stopDensity();
  };
};

const watchDensity = (onChange) => {
  let query;
  const changed = () => {
    watch();
    onChange();
  };
  const watch = () => {
    query?.removeEventListener("change", changed);
    query = matchMedia(`(resolution: ${devicePixelRatio}dppx)`);
    query.addEventListener("change", changed);
  };
  watch();
  return () => query.removeEventListener("change", changed);
};
