import { runPython } from "./python.js";

const ANSWERS_WITHIN_MS = 20_000;
const INTERPRETER = "bench"; // of its own: what a reader's cells define or stop is nothing to it

/** The name of a position of both levers, such as "4-24". */
export const runName = ({ allocation, number }) => `${allocation}-${number}`;

/** The events and readings of a run, { log, readings }, computed before; undefined if they are not in the page yet. */
export const keptRun = (model, position) => {
  const name = runName(position);
  return model.get("runs")?.[name] ?? globalThis.kvRuns?.[name];
};

/** The same, from where they lie; rejects with a sentence where they cannot be had. */
export const storedRun = async (model, position) => {
  const ask = model.get("live") ? askKernel : loadFile;
  return keptRun(model, position) ?? ask(runName(position), model);
};

/** The same, computed in the page by kvlib's own files; rejects with a sentence where that fails. */
export const computedRun = async ({ allocation, number }, settings) => {
  const given = allocation === "longest" ? '"longest"' : allocation;
  const code = `from kvlib.serving.lab_bench import run\nprint(run(${given}, ${number}).to_json())`;
  const { printed, error } = await runPython(INTERPRETER, code, { doing: "Computing the run", ...settings });
  if (error) throw new Error(inOneSentence(error));
  return JSON.parse(printed);
};

const inOneSentence = (error) =>
  error.startsWith("Traceback") ? `Python ended with ${error.trimEnd().split("\n").at(-1)}.` : error;

const notLoaded = () =>
  location.protocol.startsWith("http")
    ? "This run could not be loaded. Is there a network? Runs that have been played here can be played again."
    : "The file of this run cannot be loaded. Is the book's folder complete?";

const loadFile = (name) =>
  new Promise((resolve, reject) => {
    const script = document.createElement("script");
    script.src = `${document.documentElement.dataset.content_root ?? ""}_static/bench/${name}.js`;
    script.onload = () => resolve(globalThis.kvRuns[name]);
    script.onerror = () => reject(new Error(notLoaded()));
    document.head.append(script);
  });

const askKernel = (name, model) =>
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
