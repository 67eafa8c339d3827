import { renderMachine } from "./machine.js";
import { PageModel } from "./mount.js";
import { make } from "./elements.js";
import { positionWords } from "./bench_levers.js";
import { counters, readUpTo } from "./bench_readings.js";

const SPEED = 4; // times that of the machine: half a minute for a run, more or less
const ROW = 20; // slots

/**
 * One run, shown: which it is, its readings so far, the machine that plays it. onMoved() is called when it plays, stops or
 * moves; `state` is then "playing", "paused" or "over", and `reading` what has been read, or null.
 */
export const benchPicture = (onMoved) => {
  const caption = make("p", { className: "kv-bench-shown" });
  const readings = counters();
  const place = make("div", { className: "kv-bench-machine" });
  const element = make("div", { className: "kv-bench-run", hidden: true }, caption, readings.list, place);
  let [machine, close, shown] = [null, null, null];

  const show = (position, { log, readings: rounds }, origin) => {
    const speed = machine?.get("speed") ?? SPEED;
    close?.();
    const label = positionWords(position);
    const row = position.allocation === "longest" ? ROW : 0;
    machine = new PageModel({ data: log, position: 0, playing: true, speed, row, label });
    shown = { position, rounds, last: log.events.length };
    caption.textContent = `${label}. ${origin}`;
    element.hidden = false;
    const machineElement = make("div");
    place.replaceChildren(machineElement);
    close = renderMachine({ model: machine, el: machineElement });
    machine.on("change:position", moved);
    machine.on("change:playing", moved);
    moved();
  };
  const moved = () => {
    readings.show(picture.reading);
    onMoved();
  };
  const picture = {
    element,
    show,
    pause: () => machine?.set("playing", false),
    close: () => close?.(),
    get position() {
      return shown?.position ?? null;
    },
    get reading() {
      return readUpTo(shown.rounds, machine.get("position"));
    },
    get state() {
      if (machine.get("position") === shown.last) return "over";
      return machine.get("playing") ? "playing" : "paused";
    },
  };
  return picture;
};
