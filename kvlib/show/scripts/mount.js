/** The traits of a widget where no kernel is behind it: what a renderer needs of anywidget's model. */
export class PageModel {
  constructor(traits) {
    this.traits = traits;
    this.handlers = new Map();
  }

  get(name) {
    return this.traits[name];
  }

  set(name, value) {
    if (Object.is(this.traits[name], value)) return;
    this.traits[name] = value;
    for (const handler of [...(this.handlers.get(`change:${name}`) ?? [])]) handler();
  }

  on(event, handler) {
    this.handlers.set(event, [...(this.handlers.get(event) ?? []), handler]);
  }

  off(event, handler) {
    this.handlers.set(event, (this.handlers.get(event) ?? []).filter((other) => other !== handler));
  }

  save_changes() {}

  send() {}
}

const mountWidget = (place, renderers) => {
  const el = document.createElement("div");
  try {
    const traits = JSON.parse(place.querySelector("script[type='application/json']").textContent);
    renderers[place.dataset.widget]({ model: new PageModel(traits), el });
    place.replaceChildren(el);
  } catch (error) {
    console.error(error);
    const problem = document.createElement("p");
    problem.role = "alert";
    problem.textContent = `This picture cannot be shown, since its data cannot be read: ${error.message}. Make the page anew.`;
    place.prepend(problem);
  }
};

/** Shows every widget of the page in its place; renderers: widget name -> render({ model, el }). */
export const mount = (renderers) => {
  const mountAll = () => {
    for (const place of document.querySelectorAll(".kv-widget[data-widget]")) mountWidget(place, renderers);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", mountAll);
  else mountAll();
};
