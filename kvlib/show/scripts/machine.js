import { BadEvents, Log } from "./log.js";
import { History } from "./history.js";
import { MachineView } from "./view.js";
import { make } from "./elements.js";

/** Draw the machine of a model with the traits data, position, playing, speed, row and label into `el`. */
export function renderMachine({ model, el }) {
  el.classList.add("kv-widget");
  const section = make("section", { className: "kv-machine" });
  el.replaceChildren(section);
  let machine = null;
  const open = () => {
    machine?.close();
    machine = null;
    try {
      machine = new MachineView(model, section, new History(new Log(model.get("data"))));
    } catch (error) {
      if (!(error instanceof BadEvents)) throw error;
      section.replaceChildren(make("p", { className: "kv-problem", role: "alert", textContent: error.message }));
    }
  };
  const renew = () => machine?.goOn(model.get("data")) || open();
  open();
  model.on("change:data", renew);
  return () => {
    model.off("change:data", renew);
    machine?.close();
  };
}
