import { advance } from "./pacing.js";

const SAVE_EVERY = 250; // milliseconds between two reports to a kernel
const LONGEST_FRAME = 500; // milliseconds; a page that is hidden draws none, and nobody saw that time pass

/** Moves a model's position on through a history while it plays. */
export class Clock {
  constructor(model, history) {
    this.model = model;
    this.history = history;
    this.since = 0;
    this.last = 0;
    this.saved = 0;
    this.frame = null;
  }

  /** Start or stop, as the model's `playing` says; called again whenever the position was set by somebody. */
  follow() {
    this.since = this.last = performance.now();
    if (!this.model.get("playing")) this.stop();
    else this.frame ??= requestAnimationFrame((now) => this.#tick(now));
  }

  stop() {
    cancelAnimationFrame(this.frame);
    this.frame = null;
  }

  #tick(now) {
    this.frame = null;
    if (now - this.last > LONGEST_FRAME) this.since += now - this.last;
    this.last = now;
    const old = Math.round(this.model.get("position")) || 0;
    const { position, left } = advance(this.history, old, now - this.since, this.model.get("speed") || 1);
    if (position !== old) {
      this.model.set("position", position);
      this.since = now - left;
    }
    if (position >= this.history.length) this.model.set("playing", false);
    if (position >= this.history.length || now - this.saved > SAVE_EVERY) {
      this.model.save_changes();
      this.saved = now;
    }
    if (this.model.get("playing")) this.frame ??= requestAnimationFrame((later) => this.#tick(later));
  }
}
