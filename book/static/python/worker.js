/** A MicroPython of its own: it is sent its files once, then texts to run, one after the other. */

const DICT_FLAGS = 88123; // the byte of micropython.wasm that README.md tells about
const ORDERED = 5;
const FIRST_BYTES = 4 * 2 ** 20; // of memory for what Python makes; it grows
const MOST_BYTES = 256 * 2 ** 20; // more could end a small phone's browser
const PAUSE_MS = 50;

let micropython = null;
let decoder = new TextDecoder();
let unsent = [];
let mostPrinted = 0; // bytes of one run
let numPrinted = 0;
let lastSent = 0;

const { grow } = WebAssembly.Memory.prototype;
WebAssembly.Memory.prototype.grow = function growUpTo(numPages) {
  if (this.buffer.byteLength + numPages * 65536 > MOST_BYTES) throw new RangeError("no more memory"); // a MemoryError
  return grow.call(this, numPages);
};

const send = () => {
  const printed = decoder.decode(new Uint8Array(unsent), { stream: true });
  if (printed) postMessage({ printed });
  unsent = [];
  lastSent = performance.now();
};

const print = ([byte]) => {
  numPrinted += 1;
  if (numPrinted > mostPrinted) return;
  unsent.push(byte);
  if (numPrinted === mostPrinted) unsent.push(...new TextEncoder().encode("\n... the rest is not shown\n"));
  if (byte === 10 && performance.now() - lastSent > PAUSE_MS) send();
};

const withOrderedDicts = async (wasm) => {
  const bytes = new Uint8Array(await wasm.arrayBuffer());
  bytes[DICT_FLAGS] = ORDERED;
  return URL.createObjectURL(new Blob([bytes], { type: wasm.type }));
};

const start = async (files) => {
  const { loadMicroPython } = await import(URL.createObjectURL(files["micropython.mjs"]));
  const url = await withOrderedDicts(files["micropython.wasm"]);
  micropython = await loadMicroPython({ url, heapsize: FIRST_BYTES, stdout: print, linebuffer: false });
  for (const [path, text] of Object.entries(JSON.parse(await files["kvlib.json"].text()))) {
    micropython.FS.mkdirTree(`/lib/${path}`.replace(/\/[^/]*$/, ""));
    micropython.FS.writeFile(`/lib/${path}`, text);
  }
  micropython.runPython("import lacking, live");
};

const run = ({ code, name, mostPrinted: most }) => {
  decoder = new TextDecoder();
  mostPrinted = most;
  numPrinted = 0;
  const error = micropython.globals.get("live").run(code, name);
  send();
  return error;
};

const answer = async (asked) => {
  if (!asked.files) return { ended: true, error: run(asked) };
  await start(asked.files);
  return { started: true };
};

onmessage = async ({ data }) => {
  try {
    postMessage(await answer(data));
  } catch (fault) {
    postMessage({ fault: String(fault) });
  }
};
