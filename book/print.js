/** Makes a page ready for paper; returns its title. Its script has run, its style is that of print. */
async () => {
  for (const details of document.querySelectorAll("article details")) {
    const folded = details.closest(".kv-widget") || /^Show the (source|first cell)/.test(details.textContent.trim());
    details.open = !folded;
    details.classList.toggle("kv-not-printed", Boolean(folded));
  }
  for (const words of document.querySelectorAll("article summary :is(.collapsed, .sd-summary-text)")) {
    words.textContent = words.textContent.replace(/^\s*Show the /, "The ");
  }
  // A machine that stands at its beginning has nothing in it; it is shown on its way.
  for (const place of document.querySelectorAll("article .kv-machine input[type=range]")) {
    if (place.value !== place.min) continue;
    place.value = Math.round(0.6 * place.max);
    place.dispatchEvent(new Event("input", { bubbles: true }));
  }
  await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
  for (const canvas of document.querySelectorAll("article canvas.kv-picture")) {
    const still = new Image();
    still.src = canvas.toDataURL();
    still.alt = canvas.closest("[aria-label]")?.ariaLabel ?? "";
    still.style.cssText = `display: block; width: ${canvas.clientWidth}px`;
    canvas.replaceWith(still);
  }
  // Chromium notes the place of an id only if a link on its own page leads there; other pages' links need all.
  const article = document.querySelector("article");
  for (const { id } of article.querySelectorAll("[id]")) {
    const link = document.createElement("a");
    Object.assign(link, { href: `#${encodeURIComponent(id)}`, hidden: true });
    article.append(link);
  }
  return document.querySelector("article section h1").firstChild.textContent.trim();
};
