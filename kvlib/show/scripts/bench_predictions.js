import { make } from "./elements.js";
import { radioGroup } from "./radio_group.js";
import { QUESTIONS } from "./bench_questions.js";

const INTRODUCTION =
  "Before the first run, say what you expect. The readings will answer. What you commit to stays until the page is loaded again.";
const THREE_RUNS =
  "Three runs answer all three questions: blocks of 1, blocks of 16 and rows, with the same number of sequences, 24 or more.";

const verdict = (question, said, read) => {
  const answer = question.answer(read);
  if (!answer) return "Not read yet.";
  const judged = said === answer.value ? "As you said. " : "Not as you said. ";
  return `${said ? judged : ""}${answer.words}`;
};

/**
 * The predictions that come before the first run. `asking` asks, and calls onReady() when they are committed or skipped;
 * `answers` has them beside what was read: update(read) gives the numbers of the questions it answered for the first time,
 * linkTo(numbers), one or more, a link that says so.
 */
export const predictions = (onReady) => {
  const groups = QUESTIONS.map(({ ask, options }, place) => radioGroup({ legend: `${place + 1}. ${ask}`, options }));
  const hint = make("p", { role: "status", className: "kv-bench-hint" });
  const verdicts = QUESTIONS.map(() => make("p", { className: "kv-bench-verdict" }));
  const items = QUESTIONS.map(({ ask }) => make("li", { tabIndex: -1 }, ask));
  const list = make("ol", {}, ...items);
  const answers = make("section", { className: "kv-bench-answers", hidden: true, ariaLabel: "Predictions and readings" }, list);
  const answered = new Set();
  let said = QUESTIONS.map(() => null);

  const update = (read) => {
    QUESTIONS.forEach((question, i) => (verdicts[i].textContent = verdict(question, said[i], read)));
    const found = QUESTIONS.flatMap(({ answer }, i) => (answer(read) && !answered.has(i + 1) ? [i + 1] : []));
    for (const number of found) answered.add(number);
    return found;
  };
  const linkTo = (numbers) => {
    const words = numbers.length > 1 ? `Questions ${numbers.join(" and ")} are` : `Question ${numbers[0]} is`;
    const item = items[numbers[0] - 1];
    const go = (event) => {
      event.preventDefault();
      item.focus({ preventScroll: true });
      item.scrollIntoView({ block: "center" });
    };
    return make("a", { href: "#", onclick: go }, `${words} answered below.`);
  };
  const close = (chosen) => {
    said = chosen;
    QUESTIONS.forEach(({ options }, i) => {
      const prediction = said[i] ? `You said: ${options[said[i]]}.` : "You made no prediction.";
      items[i].append(make("p", {}, prediction), verdicts[i]);
    });
    asking.replaceChildren(make("p", {}, THREE_RUNS));
    asking.ariaLabel = "Which runs to make";
    answers.hidden = false;
    update(new Map());
    onReady();
  };
  const commit = () => {
    const missing = groups.find(({ chosen }) => !chosen);
    if (!missing) return close(groups.map(({ chosen }) => chosen));
    hint.textContent = "Choose an answer to each of the three, or skip them.";
    missing.focus();
  };
  const asking = make(
    "section", // not a form, which Enter on any of the answers would send off
    { className: "kv-bench-ask", ariaLabel: "Three predictions" },
    make("p", {}, INTRODUCTION),
    ...groups.map(({ fieldset }) => fieldset),
    make(
      "p",
      { className: "kv-bench-buttons" },
      make("button", { type: "button", onclick: commit }, "Commit to these"),
      make("button", { type: "button", onclick: () => close(QUESTIONS.map(() => null)) }, "Skip"),
    ),
    hint,
  );
  return { asking, answers, update, linkTo };
};
