const SIGNS = {
  copied: "M-4 -4H2V2H-4Z",
  copy: "M-4 -4H1V1H-4Z M-1 1V4H4V-1H1",
  evicted: "M-3 -3L3 3 M3 -3L-3 3",
  preempted: "M3.5 -1A3.6 3.6 0 1 0 3.5 1.5 M4 -4V-0.5H0.5",
  out: "M0 -4V4 M-3 1L0 4L3 1",
  in: "M0 4V-4 M-3 -1L0 -4L3 -1",
};

/** Mark a block with what happened to it in this step; blocks that were given or given back quietly get none. */
export const drawBadge = (paint, layout, rect, { kind }) => {
  if (!SIGNS[kind]) return;
  const { ink } = paint.palette;
  const isGone = kind !== "copy" && kind !== "in";
  paint.box(rect, { stroke: ink, line: 1.5, dash: isGone ? [3, 2] : [], radius: layout.detail === "tokens" ? 5 : 2 });
  if (layout.detail === "tokens") drawSign(paint, rect.x + rect.width - 5, rect.y + rect.height - 5, kind);
};

/** The sign of what happened, in a dark disc around a point. */
const drawSign = (paint, x, y, kind) => {
  const c = paint.context;
  paint.disc(x, y, 8.5, paint.palette.ink);
  c.save();
  c.translate(x, y);
  c.strokeStyle = paint.palette.paper;
  c.lineWidth = 1.6;
  c.lineCap = c.lineJoin = "round";
  c.stroke(new Path2D(SIGNS[kind]));
  c.restore();
};
