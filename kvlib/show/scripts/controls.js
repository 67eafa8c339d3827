import { make, say } from "./elements.js";
import { counted } from "./names.js";

const SPEEDS = [0.5, 1, 2, 4, 8, 16, 64];

const ICONS = {
  start: "M6 5v14 M19 5 9 12l10 7z",
  "step back": "M12 5 4 12l8 7z M20 5l-8 7 8 7z",
  back: "M17 5 7 12l10 7z",
  play: "M7 4l13 8-13 8z",
  pause: "M7 5h3v14H7z M14 5h3v14h-3z",
  forward: "M7 5l10 7-10 7z",
  "step forward": "M12 5l8 7-8 7z M4 5l8 7-8 7z",
  end: "M18 5v14 M5 5l10 7-10 7z",
};

const TITLES = {
  start: ["To the start", "start"],
  "step back": ["One step back", "step"],
  back: ["One event back", "event"],
  forward: ["One event forward", "event"],
  "step forward": ["One step forward", "step"],
  end: ["To the end", "end"],
};

/** Buttons, slider and speed of a machine. `on` has the callbacks go(where), seek(position), toggle() and speed(n). */
export class Controls {
  constructor(on) {
    const go = (where) => button(where, ...TITLES[where], () => on.go(where));
    this.play = button("play", "Play", "Play", on.toggle);
    this.play.className = "kv-play";
    this.buttons = Object.fromEntries(Object.keys(TITLES).map((where) => [where, go(where)]));
    const { start, back, forward, end } = this.buttons;
    this.slider = make("input", { type: "range", min: 0, step: 1, ariaLabel: "Events" });
    this.slider.addEventListener("input", () => on.seek(Number(this.slider.value)));
    this.place = make("span", { className: "kv-place" });
    this.speed = make("select", {}, ...SPEEDS.map(option));
    this.speed.addEventListener("change", () => on.speed(Number(this.speed.value)));
    const buttons = [start, this.buttons["step back"], back, this.play, forward, this.buttons["step forward"], end];
    this.element = make(
      "div",
      { className: "kv-controls" },
      this.slider,
      make("div", { className: "kv-buttons" }, ...buttons),
      this.place,
      make("label", { className: "kv-speed" }, "Speed ", this.speed),
    );
  }

  show({ position, length, step, playing, speed }) {
    const name = playing ? "Pause" : "Play";
    setFace(this.play, playing ? "pause" : "play", name, name);
    for (const [where, element] of Object.entries(this.buttons)) {
      const isBack = ["start", "step back", "back"].includes(where);
      element.setAttribute("aria-disabled", String(isBack ? position === 0 : position === length));
    }
    this.slider.max = length;
    this.slider.value = position;
    this.slider.setAttribute("aria-valuetext", `${position} of ${counted(length, "event")}, step ${step}`);
    say(this.place, `step ${step} · event ${position} of ${length}`);
    if (!this.speed.querySelector(`[value="${speed}"]`)) {
      this.speed.append(option(speed));
    }
    this.speed.value = speed;
  }
}

const option = (speed) => make("option", { value: speed, textContent: `${speed} ×` });

const button = (icon, title, word, onClick) => {
  const element = make("button", { type: "button" });
  element.addEventListener("click", () => element.ariaDisabled !== "true" && onClick());
  setFace(element, icon, title, word);
  return element;
};

const setFace = (element, icon, title, word) => {
  if (element.ariaLabel === title) return;
  element.ariaLabel = element.title = title;
  element.innerHTML = `<svg viewBox="0 0 24 24" aria-hidden="true"><path d="${ICONS[icon]}"/></svg>${word}`;
};
