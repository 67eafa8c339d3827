/** Keeps elements as high as they have been at their width, so that what stands below does not move to and fro. */
export class HeightKeeper {
  constructor(...elements) {
    const widths = new Map();
    this.sizes = new ResizeObserver((changed) => {
      for (const { target } of changed) {
        if (widths.get(target) !== target.clientWidth) this.forget(target);
        widths.set(target, target.clientWidth);
        target.style.minHeight = `${target.getBoundingClientRect().height}px`;
      }
    });
    for (const element of elements) this.sizes.observe(element);
  }

  /** Let an element be as low as what is in it now. */
  forget(element) {
    element.style.minHeight = "";
  }

  stop() {
    this.sizes.disconnect();
  }
}
