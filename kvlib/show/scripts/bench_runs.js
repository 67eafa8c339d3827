import { runPython } from "./python.js";

const ANSWERS_WITHIN_MS = 20_000;

/** The name of a position of both levers, such as "4-24". */
export const runName = ({ allocation, number }) => `${allocation}-${number}`;

/** The events and readings of a run, { log, readings }, as they were computed in Python before. */
export const storedRun = (model, position) => {
  const name = runName(position);
  const kept = model.get("runs")?.[name] ?? globalThis.kvRuns?.[name];
  if (kept) return Promise.resolve(kept);
  return model.get("live") ? askKernel(model, name) : loadFile(name);
};

/** The same, computed in the page by kvlib's own files; rejects where Python cannot be loaded or fails. */
export const computedRun = async ({ allocation, number }, settings) => {
  const given = allocation === "longest" ? '"longest"' : allocation;
  const code = `from kvlib.serving.lab_bench import run\nprint(run(${given}, ${number}).to_json())`;
  const { printed, error } = await runPython(code, settings);
  if (error) throw new Error(error);
  return JSON.parse(printed);
};

const loadFile = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root ?? ""}_static/bench/${name}.js`;
    script.onload = () => resolve(globalThis.kvRuns[name]);
    script.onerror = () => reject(new Error("The file of this run cannot be loaded. Is the book's folder complete?"));
    document.head.append(script);
  });

const askKernel = (model, name) =>
  new Promise((resolve, reject) => {
    const settle = () => {
      clearTimeout(timer);
      model.off("msg:custom", hear);
    };
    const hear = (message) => {
      if (message.run !== name) return;
      settle();
      resolve(message.data);
    };
    const timer = setTimeout(() => {
      settle();
      reject(new Error("The kernel does not answer. Run the cell again."));
    }, ANSWERS_WITHIN_MS);
    model.on("msg:custom", hear);
    model.send({ run: name });
  });
