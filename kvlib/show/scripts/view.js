import { accountOf, tellLit } from "./account.js";
import { Clock } from "./clock.js";
import { Controls } from "./controls.js";
import { Drawing } from "./drawing.js";
import { make, say } from "./elements.js";
import { Layout } from "./layout.js";
import { litBy } from "./lit.js";
import { marksOf } from "./marks.js";
import { Motion } from "./motion.js";
import { readPalette, watchTheme } from "./palette.js";
import { choosePlaces } from "./pointing.js";
import { Readings } from "./readings.js";
import { shownSequences } from "./sequences.js";
import { Tables } from "./tables.js";
import { tellPosition } from "./telling.js";
import { Texts } from "./texts.js";

const MOST_SPEED = 8; // above it movements would only blur

/** One picture of a model: it draws the history at the model's position and moves that when a reader asks for it. */
export class MachineView {
  constructor(model, section, history) {
    this.model = model;
    this.history = history;
    this.section = section;
    this.place = null;
    this.shown = 0;
    this.clock = new Clock(model, history);
    this.#build();
    this.#listen();
    this.palette = readPalette(section);
    this.stopTheme = watchTheme(() => this.#repaint());
    this.sizes = new ResizeObserver(() => this.#resize());
    this.sizes.observe(this.board);
    this.#resize();
    this.clock.follow();
  }

  close() {
    this.clock.stop();
    this.motion.stop();
    this.stopTheme();
    this.sizes.disconnect();
    for (const [name, handler] of this.handlers) this.model.off(name, handler);
  }

  get position() {
    return Math.max(0, Math.min(this.history.length, this.model.get("position")));
  }

  get speed() {
    return this.model.get("speed") || 1;
  }

  #build() {
    const { history } = this;
    this.readings = new Readings();
    this.tables = new Tables(history);
    this.texts = new Texts(history);
    const canvas = make("canvas", { ariaHidden: "true" });
    this.drawing = new Drawing(canvas);
    const overlay = make("canvas", { ariaHidden: "true", className: "kv-motion" });
    this.motion = new Motion(overlay);
    this.board = make("div", { className: "kv-board", tabIndex: 0, role: "application" }, canvas, overlay);
    this.board.ariaLabel = history.log.numSlots
      ? `Memory of ${history.log.numSlots} slots: arrow keys go from slot to slot`
      : `Memory of ${history.log.numBlocks} blocks: arrow keys go from block to block`;
    this.said = make("p", { className: "kv-said" });
    this.seen = make("p", { className: "kv-seen", ariaLive: "polite" });
    this.controls = new Controls({
      go: (where) => this.#goTo(this.#target(where)),
      seek: (position) => this.#goTo(position),
      toggle: () => this.#toggle(),
      speed: (speed) => this.#set({ speed }),
    });
    this.account = make("details", { className: "kv-account" }, make("summary", { textContent: "The state in words" }));
    this.account.addEventListener("toggle", () => this.#showAccount());
    this.problem = make("p", { className: "kv-problem", role: "alert" });
    this.section.replaceChildren(
      this.problem,
      this.readings.element,
      this.tables.element,
      this.board,
      make("div", { className: "kv-words" }, this.seen, this.said),
      this.controls.element,
      this.texts.element,
      this.account,
    );
  }

  #listen() {
    this.handlers = [
      ["change:position", () => this.#moved()],
      ["change:playing", () => this.#moved()],
      ["change:speed", () => this.#moved()],
      ["change:row", () => this.#resize()],
      ["change:label", () => (this.section.ariaLabel = this.model.get("label"))],
      ["msg:custom", (message) => this.#append(message)],
    ];
    for (const [name, handler] of this.handlers) this.model.on(name, handler);
    const parts = { boardElement: this.board, tables: this.tables.element, texts: this.texts.element };
    const state = { board: () => this.history.at(this.position), layout: () => this.layout };
    choosePlaces({ ...parts, ...state }, (place, where) => this.#choose(place, where));
  }

  #target(where) {
    const { history, position } = this;
    const targets = {
      start: 0,
      "step back": history.stepBefore(position),
      back: position - 1,
      forward: position + 1,
      "step forward": history.stepAfter(position),
      end: history.length,
    };
    return targets[where];
  }

  #goTo(position) {
    this.#set({ playing: false, position: Math.max(0, Math.min(this.history.length, position)) });
  }

  #toggle() {
    const playing = !this.model.get("playing");
    const isOver = this.position === this.history.length;
    this.#set(playing && isOver ? { position: 0, playing } : { playing });
  }

  #set(traits) {
    for (const [name, value] of Object.entries(traits)) this.model.set(name, value);
    this.model.save_changes();
  }

  #append({ events, texts }) {
    if (!Array.isArray(events)) return;
    const wasAtEnd = this.position === this.history.length;
    this.history.log.append({ events, texts });
    this.history.extend();
    this.tables.fit();
    if (wasAtEnd && !this.history.problem) this.#set({ playing: true });
    this.#resize();
  }

  #moved() {
    this.clock.follow();
    const { history, position, shown } = this;
    if (position < shown) this.motion.stop();
    if (position > shown && this.speed <= MOST_SPEED) this.#move(history.log.events.slice(shown, position));
    this.#show();
  }

  #move(events) {
    const before = this.history.at(this.shown);
    if (this.layout) this.motion.begin({ before, events, layout: this.layout, palette: this.palette });
  }

  #choose(place, where) {
    this.place = place;
    this.#paint(where);
  }

  #resize() {
    const width = Math.floor(this.board.clientWidth);
    if (width > 0) {
      const hostBlocks = this.history.mostHostBlocks;
      this.layout = new Layout(this.history.log, { width, row: this.model.get("row"), hostBlocks });
      this.motion.stop();
    }
    this.#show();
  }

  #repaint() {
    this.palette = readPalette(this.section);
    this.#paint();
  }

  #show() {
    const { history, position } = this;
    const playing = Boolean(this.model.get("playing"));
    this.said.ariaLive = playing ? "off" : "polite";
    say(this.said, tellPosition(history, position));
    const board = history.at(position);
    const sequences = shownSequences(board);
    this.readings.show(board);
    this.tables.show(board, sequences);
    this.texts.show(board, sequences);
    this.shown = position;
    this.controls.show({ position, length: history.length, step: board.step, playing, speed: this.speed });
    this.problem.hidden = !history.problem;
    say(this.problem, history.problem ? `${history.problem} The machine plays up to there.` : "");
    this.#showAccount();
    this.#paint();
  }

  #showAccount() {
    if (!this.account.open) return;
    const paragraphs = accountOf(this.history, this.position).map((textContent) => make("p", { textContent }));
    this.account.replaceChildren(this.account.firstChild, ...paragraphs);
  }

  #paint(where) {
    if (!this.layout) return;
    const board = this.history.at(this.position);
    const lit = litBy(board, this.place);
    const isMoving = where === undefined && this.model.get("playing");
    if (lit || this.wasLit) {
      this.tables.light(lit, isMoving || where === this.tables.element);
      this.texts.light(lit, isMoving || where === this.texts.element);
    }
    this.wasLit = Boolean(lit);
    say(this.seen, lit ? tellLit(board, lit) : "");
    const marks = marksOf(this.history.recent(this.position));
    this.drawing.show(this.palette, this.layout, { board, marks, lit });
  }
}
