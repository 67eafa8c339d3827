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
import { Texts } from "./texts.js";
import { Account, Words } from "./words.js";

const MOST_SPEED = 8; // above it movements would only blur

/** One picture of a model: it draws the history at the model's position, and moves that when a reader asks for it. */
export class MachineView {
  constructor(model, section, history) {
    Object.assign(this, { model, section, history, place: null, shown: 0 });
    this.clock = new Clock(model, history);
    this.#build();
    this.#listen();
    this.stopTheme = watchTheme(() => this.#resize());
    this.sizes = new ResizeObserver(() => this.#resize());
    this.sizes.observe(this.board);
    this.#resize();
    this.clock.follow();
  }

  /** Stop, and listen to nothing any more. */
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
    const { numSlots, numBlocks } = history.log;
    const [memory, place] = numSlots ? [`${numSlots} slots`, "slot"] : [`${numBlocks} blocks`, "block"];
    const ariaLabel = `Memory of ${memory}: arrow keys go from ${place} to ${place}`;
    const canvases = ["kv-picture", "kv-motion"].map((className) => make("canvas", { className, ariaHidden: "true" }));
    this.board = make("div", { className: "kv-board", tabIndex: 0, role: "application", ariaLabel }, ...canvases);
    this.drawing = new Drawing(canvases[0]);
    this.motion = new Motion(canvases[1]);
    this.problem = make("p", { className: "kv-problem", role: "alert" });
    this.readings = new Readings();
    this.tables = new Tables(history);
    this.texts = new Texts(history);
    this.words = new Words();
    this.account = new Account();
    this.controls = new Controls({
      go: (where) => this.#goTo(this.#target(where)),
      seek: (position) => this.#goTo(position),
      toggle: () => this.#toggle(),
      speed: (speed) => this.#set({ speed }),
    });
    const parts = [this.words, this.controls, this.texts, this.account].map(({ element }) => element);
    this.section.replaceChildren(this.problem, this.readings.element, this.tables.element, this.board, ...parts);
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
    choosePlaces({ ...parts, ...state }, (place, where) => {
      this.place = place;
      this.#paint(where);
    });
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
    const wasAtEnd = this.position === this.history.length;
    this.history.log.append({ events, texts });
    this.history.extend();
    this.tables.fit();
    this.#resize();
    if (wasAtEnd) this.#set({ playing: true });
  }

  #moved() {
    this.clock.follow();
    const { history, position, shown } = this;
    if (position < shown) this.motion.stop();
    if (position > shown && this.speed <= MOST_SPEED) {
      const [before, events] = [history.at(shown), history.log.events.slice(shown, position)];
      this.motion.begin({ before, events, layout: this.layout, palette: this.palette });
    }
    this.#show();
  }

  /** Lay out and draw anew, as after another size or theme; only what stands in a page has colours. */
  #resize() {
    this.palette = readPalette(this.section);
    const width = Math.floor(this.board.clientWidth) || this.layout?.width || 320;
    const hostBlocks = this.history.mostHostBlocks;
    this.layout = new Layout(this.history.log, { width, row: this.model.get("row"), hostBlocks });
    this.motion.stop();
    this.#show();
  }

  #show() {
    const { history, position, speed } = this;
    const playing = Boolean(this.model.get("playing"));
    this.words.tell(history, position, playing);
    const board = history.at(position);
    const sequences = shownSequences(board);
    this.readings.show(board);
    this.tables.show(board, sequences);
    this.texts.show(board, sequences);
    this.controls.show({ position, length: history.length, step: board.step, playing, speed });
    this.account.show(history, position);
    this.problem.hidden = !history.problem;
    say(this.problem, history.problem ? `${history.problem} The machine plays up to there.` : "");
    this.shown = position;
    this.#paint();
  }

  /** Draw the board anew, with what is lit; `where` is the part in which a reader points at it, if one has now. */
  #paint(where) {
    const board = this.history.at(this.position);
    const lit = litBy(board, this.place);
    const isStill = where === undefined;
    if (lit || this.wasLit) {
      this.tables.light(lit, isStill || where === this.tables.element);
      this.texts.light(lit, isStill || where === this.texts.element);
    }
    this.wasLit = Boolean(lit);
    this.words.tellLit(board, lit);
    const marks = marksOf(this.history.recent(this.position));
    this.drawing.show(this.palette, this.layout, { board, marks, lit });
  }
}
