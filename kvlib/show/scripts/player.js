import { Clock } from "./clock.js";

/** Moves a model through its history: by hand, by itself as long as it plays, and on when a kernel adds events. */
export class Player {
  constructor(model, history) {
    this.model = model;
    this.history = history;
    this.clock = new Clock(this);
  }

  get position() {
    return Math.max(0, Math.min(this.history.length, Math.round(this.model.get("position")) || 0));
  }

  get speed() {
    return this.model.get("speed") || 1;
  }

  get playing() {
    return Boolean(this.model.get("playing"));
  }

  /** Stop, and go to the place that a button of Controls names. */
  go(where) {
    const { history, position } = this;
    const targets = {
      start: 0,
      "step back": history.stepBefore(position),
      back: position - 1,
      forward: position + 1,
      "step forward": history.stepAfter(position),
      end: history.length,
    };
    this.seek(targets[where]);
  }

  /** Stop, and go to a position. */
  seek(position) {
    this.set({ playing: false, position: Math.max(0, Math.min(this.history.length, position)) });
  }

  /** Play or pause; at the end, play from the start. */
  toggle() {
    const playing = !this.playing;
    const isOver = this.position === this.history.length;
    this.set(playing && isOver ? { position: 0, playing } : { playing });
  }

  set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  /** Take what is new of a log's data into the history; it is played if the history stood at its end. */
  append({ events, texts }, onAppended) {
    const { position, history } = this;
    const { length } = history;
    history.log.append({ events: events.slice(history.log.events.length), texts });
    history.extend();
    onAppended();
    if (position === length && history.length > length) this.set({ playing: true });
  }
}
