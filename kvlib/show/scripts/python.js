/* Where Python lies is told by an element that book/ext/live_cells.py writes; what runs it, by book/static/python. */

const pythonPlace = globalThis.document?.querySelector('meta[name="kv-python"]') ?? null;
const PYTHON_FILES = {
  "worker.js": "text/javascript",
  "micropython.mjs": "text/javascript",
  "micropython.wasm": "application/wasm",
  "kvlib.json": "application/json",
};
const NEEDS_SERVER = 'Running code here needs a web server; the command "make book" starts one.';
const STOPPED = { printed: "", error: "Stopped.", stopped: true };

/** What the first call of `runPython` loads, in MB; computed when the book was built. */
export const PYTHON_MEGABYTES = Number(pythonPlace?.dataset.bytes ?? 0) / 1e6;

/** Why this page cannot run Python, as a sentence; "" if it can. */
export const whyNoPython = () => {
  if (!pythonPlace) return "No Python comes with this page.";
  if (!location.protocol.startsWith("http")) return NEEDS_SERVER;
  if (!globalThis.WebAssembly) return "This browser has no WebAssembly, which running code needs.";
  return "";
};

/** Whether this page can run Python. */
export const canRunPython = () => whyNoPython() === "";

// One for all scripts of a page. files: name -> Blob, once loaded; interpreters: name -> one with names of its own.
const python = (globalThis.kvPython ??= { files: null, interpreters: {} });

const interpreterNamed = (name) =>
  (python.interpreters[name] ??= { worker: null, life: 0, lastRun: Promise.resolve() });

/** Whether the next call of `runPython` loads nothing. */
export const isPythonLoaded = () => python.files !== null;

/** A number that changes when all names that an interpreter's code has defined are lost, because it was stopped. */
export const currentPythonLife = (interpreter) => interpreterNamed(interpreter).life;

const loadPythonFile = async (name, signal, onBytes) => {
  const response = await fetch(`${pythonPlace.content}${name}?v=${pythonPlace.dataset.version}`, { signal });
  if (!response.ok) throw new Error(`${name} gave status ${response.status}`);
  const parts = [];
  const reader = response.body.getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return new Blob(parts, { type: PYTHON_FILES[name] });
    parts.push(value);
    onBytes(value.length);
  }
};

const loadPython = async (onStatus, signal) => {
  let numBytes = 0;
  let isOver = false; // when one file fails, others may go on for a while
  const tell = (more) => {
    numBytes += more;
    if (!isOver) onStatus(`Loading Python: ${(numBytes / 1e6).toFixed(1)} of ${PYTHON_MEGABYTES.toFixed(1)} MB`);
  };
  tell(0);
  const load = async (name) => [name, await loadPythonFile(name, signal, tell)];
  try {
    return Object.fromEntries(await Promise.all(Object.keys(PYTHON_FILES).map(load)));
  } finally {
    isOver = true;
  }
};

const kill = (interpreter) => {
  interpreter.worker?.terminate();
  interpreter.worker = null;
  interpreter.life += 1;
};

/** What `take` makes of the worker's answers to `message`, the first of them that it gives a value for. */
const answerOf = (worker, message, signal, take) =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal.reason);
    signal?.addEventListener("abort", stop, { once: true });
    if (signal?.aborted) stop();
    const end = (settle, value) => {
      signal?.removeEventListener("abort", stop);
      settle(value);
    };
    worker.onerror = ({ message }) => end(reject, message || "its worker did not start");
    worker.onmessage = ({ data }) => {
      const value = take(data);
      if (data.fault) end(reject, data.fault);
      else if (value !== undefined) end(resolve, value);
    };
    worker.postMessage(message);
  });

const startPython = async (interpreter, onStatus, signal) => {
  python.files ??= await loadPython(onStatus, signal);
  onStatus("Starting Python");
  interpreter.worker = new Worker(URL.createObjectURL(python.files["worker.js"]), { type: "module" });
  await answerOf(interpreter.worker, { files: python.files }, signal, ({ started }) => started);
};

const ignore = () => {};

const runNow = async (interpreter, code, settings) => {
  const { name = "code", doing = "Running", mostPrinted = Infinity } = settings;
  const { onStatus = ignore, onPrinted = ignore, signal } = settings;
  if (signal?.aborted) return STOPPED;
  let printed = "";
  try {
    if (!interpreter.worker) await startPython(interpreter, onStatus, signal);
    onStatus(doing);
    const error = await answerOf(interpreter.worker, { code, name, mostPrinted }, signal, (said) => {
      if (said.ended) return said.error;
      printed += said.printed ?? "";
      if (said.printed) onPrinted(said.printed);
      return undefined;
    });
    if (error.includes("\nMemoryError")) kill(interpreter); // else what filled the memory stays in it
    return { printed, error, stopped: false };
  } catch (fault) {
    const wasStarted = interpreter.worker !== null;
    kill(interpreter);
    if (signal?.aborted) return { ...STOPPED, printed };
    const how = wasStarted ? "Python broke down" : "Python could not be loaded";
    return { printed, error: `${how} (${fault.message ?? fault}). Run it again.`, stopped: false };
  }
};

/** Runs `code` after what the same interpreter was asked before -> { printed, error, stopped }: what it printed, a
 * traceback or "".
 *
 * Names that the interpreter of this name has defined before are there still; others know nothing of them, and run at
 * the same time. The first call loads Python. Settings, all optional: `name` stands in tracebacks; at most `mostPrinted`
 * bytes are passed on; `onStatus(sentence)` hears how far it is, and `doing` while it runs; `onPrinted(text)` hears each
 * piece as it comes; aborting the AbortSignal `signal` ends it at once. */
export const runPython = (interpreter, code, settings = {}) => {
  const chosen = interpreterNamed(interpreter);
  chosen.lastRun = chosen.lastRun.then(() => runNow(chosen, code, settings));
  return chosen.lastRun;
};
