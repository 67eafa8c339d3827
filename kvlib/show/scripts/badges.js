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
  const { ink, paper } = paint.palette;
  const c = paint.context;
  const isGone = kind !== "copy" && kind !== "in";
  paint.box(rect, { stroke: ink, line: 1.5, dash: isGone ? [3, 2] : [], radius: layout.detail === "tokens" ? 5 : 2 });
  if (layout.detail !== "tokens") return;
  c.save();
  c.translate(rect.x + rect.width - 5, rect.y + rect.height - 5);
  c.beginPath();
  c.arc(0, 0, 8.5, 0, 2 * Math.PI);
  c.fillStyle = ink;
  c.fill();
  c.strokeStyle = paper;
  c.lineWidth = 1.6;
  c.lineCap = c.lineJoin = "round";
  c.stroke(new Path2D(SIGNS[kind]));
  c.restore();
};
