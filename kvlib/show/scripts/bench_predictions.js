import { make } from "./elements.js";
import { radioGroup } from "./radio_group.js";
import { QUESTIONS } from "./bench_questions.js";

const verdict = (question, said, read) => {
  const answer = question.answer(read);
  if (!answer) return `Not read yet. ${question.needs}`;
  const judged = said === answer.value ? "As you said. " : "Not as you said. ";
  return `${said ? judged : ""}${answer.words}`;
};

/**
 * The predictions that come before the first run. `form` asks, and calls onReady() when they are committed or skipped;
 * `answers` has them beside what was read: update(read) gives the numbers of the questions it answered for the first time.
 */
export const predictions = (onReady) => {
  const groups = QUESTIONS.map(({ ask, options }, place) => radioGroup({ legend: `${place + 1}. ${ask}`, options }));
  const hint = make("p", { role: "status", className: "kv-bench-hint" });
  const verdicts = QUESTIONS.map(() => make("p", { className: "kv-bench-verdict" }));
  const list = make("ol");
  const answers = make("section", { className: "kv-bench-answers", hidden: true, ariaLabel: "Predictions and readings" }, list);
  const answered = new Set();
  let said = QUESTIONS.map(() => null);

  const update = (read) => {
    QUESTIONS.forEach((question, i) => (verdicts[i].textContent = verdict(question, said[i], read)));
    const found = QUESTIONS.flatMap(({ answer }, i) => (answer(read) && !answered.has(i + 1) ? [i + 1] : []));
    for (const number of found) answered.add(number);
    return found;
  };
  const close = (chosen) => {
    said = chosen;
    QUESTIONS.forEach(({ ask, options }, i) => {
      const prediction = said[i] ? `You said: ${options[said[i]]}.` : "You made no prediction.";
      list.append(make("li", {}, ask, make("p", {}, prediction), verdicts[i]));
    });
    form.hidden = true;
    answers.hidden = false;
    update(new Map());
    onReady();
  };
  const commit = (event) => {
    event.preventDefault();
    const missing = groups.find(({ chosen }) => !chosen);
    if (!missing) return close(groups.map(({ chosen }) => chosen));
    hint.textContent = "Choose an answer to each of the three, or skip them.";
    missing.focus();
  };
  const form = make(
    "form",
    { className: "kv-bench-ask", onsubmit: commit, ariaLabel: "Three predictions" },
    make("p", {}, "Before the first run, say what you expect. The readings will answer."),
    ...groups.map(({ fieldset }) => fieldset),
    make(
      "p",
      { className: "kv-bench-buttons" },
      make("button", { type: "submit" }, "Commit to these"),
      make("button", { type: "button", onclick: () => close(QUESTIONS.map(() => null)) }, "Skip"),
    ),
    hint,
  );
  return { form, answers, update };
};
