import { PYTHON_MEGABYTES, whyNoPython } from "./python.js";
import { make } from "./elements.js";
import { readUpTo } from "./bench_readings.js";
import { computedRun, keptRun, runName, storedRun } from "./bench_runs.js";

/** Whether the readings that a run ends with are those that came with the page. */
const hasReadings = (readings, kept) => {
  const { most, stored, held, rounds } = readUpTo(readings, Infinity);
  return String([most, stored, held, rounds]) === String(kept);
};

/** How far a run that was computed here has been compared with the one computed before; rejects if it is another. */
const comparison = (data, model, position) => {
  const kept = keptRun(model, position);
  const isSame = kept
    ? JSON.stringify(data) === JSON.stringify(kept)
    : hasReadings(data.readings, model.get("readings")[runName(position)]);
  if (!isSame) throw new Error("What Python computed here was another run.");
  return kept ? "event by event the run computed before" : "its readings are those of the run computed before";
};

/** The switch for computing runs in the page: its `element`, isOn(), compute(position, signal, say) -> { data, origin }. */
export const pythonSwitch = (model) => {
  if (model.get("live")) return { element: "", isOn: () => false };
  const why = whyNoPython();
  const box = make("input", { type: "checkbox", disabled: why !== "" });
  const cost = why ? "" : ` (${PYTHON_MEGABYTES.toFixed(1)} MB, loaded once)`;
  const label = make("label", {}, box, `compute each run here, with Python${cost}`);
  const words = why || "The runs were computed before. With this on, your browser computes them anew, with the same files.";
  const hint = make("p", { className: "kv-bench-hint" }, why ? `${why} The runs were computed before.` : words);
  const element = make("div", { className: "kv-bench-switch" }, label, hint);

  const compute = async (position, signal, onStatus) => {
    try {
      const data = await computedRun(position, { signal, onStatus });
      return { data, origin: `Computed in this page: ${comparison(data, model, position)}.` };
    } catch (error) {
      if (signal.aborted) throw error;
      return storedInstead(position, error.message);
    }
  };
  const storedInstead = async (position, why) => {
    try {
      return { data: await storedRun(model, position), origin: `Computed before. ${why}` };
    } catch (error) {
      throw new Error(`${why} ${error.message}`);
    }
  };
  return { element, isOn: () => box.checked, compute };
};
