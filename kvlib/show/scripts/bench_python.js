import { PYTHON_MEGABYTES, whyNoPython } from "./python.js";
import { make } from "./elements.js";
import { computedRun, runName, storedRun } from "./bench_runs.js";

/** Whether the readings that a run ends with are those that came with the page. */
const isAsStored = (readings, [most, stored, held, rounds]) => {
  const sum = (field) => readings.reduce((total, reading) => total + reading[field], 0);
  const mostRead = Math.max(...readings.map((reading) => reading[1]));
  return mostRead === most && sum(2) === stored && sum(3) === held && readings.length === rounds;
};

/** The switch for computing runs in the page: its `element`, isOn(), compute(position, signal, say) -> { data, origin }. */
export const pythonSwitch = (model) => {
  if (model.get("live")) return { element: "", isOn: () => false };
  const why = whyNoPython();
  const box = make("input", { type: "checkbox", disabled: why !== "" });
  const cost = why ? "" : ` (${PYTHON_MEGABYTES.toFixed(1)} MB, loaded once)`;
  const words = `compute each run here, with Python${cost}`;
  const element = make("div", { className: "kv-bench-switch" }, make("label", {}, box, words));
  if (why) element.append(make("p", { className: "kv-bench-hint" }, `${why} Runs were computed before.`));

  const compute = async (at, signal, say) => {
    try {
      const data = await computedRun(at, { signal, onStatus: say });
      const isSame = isAsStored(data.readings, model.get("readings")[runName(at)]);
      const compared = isSame ? "the same as" : "other than";
      return { data, origin: `Computed in this page, by the package's own code: ${compared} the run computed before.` };
    } catch (error) {
      if (signal.aborted) throw error;
      const origin = `Python could not compute it here (${error.message}). This run was computed before.`;
      return { data: await storedRun(model, at), origin };
    }
  };
  return { element, isOn: () => box.checked, compute };
};
