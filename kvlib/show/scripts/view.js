import { Controls } from "./controls.js";
import { HeightKeeper } from "./heights.js";
import { Legend } from "./legend.js";
import { Picture } from "./picture.js";
import { Player } from "./player.js";
import { Readings } from "./readings.js";
import { Tables } from "./tables.js";
import { Texts } from "./texts.js";
import { Account, Words } from "./words.js";
import { make, say } from "./elements.js";
import { litBy } from "./lit.js";
import { marksOf } from "./marks.js";
import { choosePlaces } from "./pointing.js";
import { shownSequences } from "./sequences.js";

/** One machine for a model: it shows the history at the model's position, and moves that when a reader asks for it. */
export class MachineView {
  constructor(model, section, history) {
    Object.assign(this, { model, section, history, place: null, shown: 0 });
    this.player = new Player(model, history);
    this.#build();
    this.#listen();
    this.#fit();
    this.player.clock.follow();
  }

  /** Stop, and listen to nothing any more. */
  close() {
    this.player.clock.stop();
    this.picture.close();
    this.heights.stop();
    this.section.removeEventListener("keydown", this.onKey);
    for (const [name, handler] of this.handlers) this.model.off(name, handler);
  }

  /** Take in `data` whose events go on where those of the log end; false if they are another log's. */
  goOn(data) {
    if (!this.history.log.begins(data)) return false;
    this.player.append(data, () => this.#extended());
    return true;
  }

  #build() {
    const { history, model, player } = this;
    this.problem = make("p", { className: "kv-problem", role: "alert" });
    this.title = make("p", { className: "kv-title" });
    this.tables = new Tables(history);
    this.readings = new Readings(history.log);
    this.picture = new Picture(history, model, () => this.#fit());
    this.controls = new Controls({
      go: (where) => player.go(where),
      seek: (position) => player.seek(position),
      toggle: () => player.toggle(),
      speed: (speed) => player.set({ speed }),
    });
    this.words = new Words();
    this.legend = new Legend(history);
    this.texts = new Texts(history, (list) => this.heights.forget(list));
    this.account = new Account();
    this.heights = new HeightKeeper(this.words.element, this.texts.list);
    const { tables, readings, picture, controls, words, legend, texts, account } = this;
    const parts = [tables, readings, picture, controls, words, legend, texts, account].map(({ element }) => element);
    this.section.replaceChildren(this.problem, this.title, ...parts);
  }

  #listen() {
    this.handlers = [
      ["change:position", () => this.#moved()],
      ["change:playing", () => this.#moved()],
      ["change:speed", () => this.#moved()],
      ["change:row", () => this.#fit()],
      ["change:label", () => this.#show()],
    ];
    for (const [name, handler] of this.handlers) this.model.on(name, handler);
    this.onKey = (event) => {
      if (event.key !== " " || event.target.closest("button, select, summary")) return;
      event.preventDefault();
      this.player.toggle();
    };
    this.section.addEventListener("keydown", this.onKey);
    const parts = { boardElement: this.picture.element, tables: this.tables.list, texts: this.texts.list };
    const state = { board: () => this.history.at(this.player.position), layout: () => this.picture.layout };
    choosePlaces({ ...parts, ...state }, (place, where) => {
      this.place = place;
      this.#paint(where);
    });
  }

  #extended() {
    this.tables.fit();
    this.#fit();
  }

  #moved() {
    const { position, speed, clock } = this.player;
    clock.follow();
    this.picture.move(this.shown, position, speed);
    this.#show();
  }

  #fit() {
    this.picture.fit();
    this.legend.draw(this.picture.palette, this.picture.layout.detail);
    this.#show();
  }

  #show() {
    const { history } = this;
    const { position, playing, speed } = this.player;
    const label = this.model.get("label") || "Machine";
    this.section.ariaLabel = label;
    say(this.title, label);
    this.words.tell(history, position, playing);
    const board = history.at(position);
    const sequences = shownSequences(board, history.recent(position));
    this.tables.show(board, sequences);
    this.readings.show(board, history.mostHostBlocks > 0);
    this.controls.show({ position, length: history.length, step: board.step, playing, speed });
    this.texts.show(board, sequences);
    this.account.show(history, position);
    this.problem.hidden = !history.problem;
    say(this.problem, history.problem ? `${history.problem} The machine plays up to there.` : "");
    this.shown = position;
    this.#paint();
  }

  /** Draw the board anew, with what is lit; `where` is the part in which a reader points at it, if one has now. */
  #paint(where) {
    const { position } = this.player;
    const board = this.history.at(position);
    const lit = litBy(board, this.place);
    const isStill = where === undefined;
    if (lit || this.wasLit) {
      this.tables.light(lit, isStill || where === this.tables.list);
      this.texts.light(lit, isStill || where === this.texts.list);
    }
    this.wasLit = Boolean(lit);
    this.words.tellLit(board, lit);
    this.picture.show({ board, marks: marksOf(this.history.recent(position)), lit });
  }
}
