import { advance } from "./pacing.js";

const SAVE_EVERY = 250; // milliseconds between two reports to a kernel
const LONGEST_FRAME = 500; // milliseconds; a page that is hidden draws none, and nobody saw that time pass

/** Moves the model of a player on through its history while it plays. */
export class Clock {
  constructor(player) {
    this.player = player;
    this.since = 0;
    this.last = 0;
    this.saved = 0;
    this.frame = null;
  }

  /** Start or stop, as the model's `playing` says; called again whenever the position was set by somebody. */
  follow() {
    this.since = this.last = performance.now();
    if (!this.player.playing) this.stop();
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
    const { model, history, position: old, speed } = this.player;
    const { position, left } = advance(history, old, now - this.since, speed);
    if (position !== old) {
      model.set("position", position);
      this.since = now - left;
    }
    if (position >= history.length) model.set("playing", false);
    if (position >= history.length || now - this.saved > SAVE_EVERY) {
      model.save_changes();
      this.saved = now;
    }
    if (this.player.playing) this.frame ??= requestAnimationFrame((later) => this.#tick(later));
  }
}
