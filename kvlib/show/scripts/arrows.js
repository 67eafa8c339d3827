/** A bent arrow from the upper edge of one rectangle to that of another, on a band of paper. */
export const drawArrow = ({ context: c, palette }, from, to) => {
  const [x1, y1, x2, y2] = [middleX(from), from.y + 4, middleX(to), to.y + 2];
  const [bendX, bendY] = bend(x1, y1, x2, y2);
  const angle = Math.atan2(y2 - bendY, x2 - bendX);
  const line = () => {
    c.beginPath();
    c.moveTo(x1, y1);
    c.quadraticCurveTo(bendX, bendY, x2, y2);
    c.stroke();
  };
  c.lineCap = "round";
  c.strokeStyle = palette.paper;
  c.lineWidth = 5;
  line();
  c.strokeStyle = c.fillStyle = palette.ink;
  c.lineWidth = 2;
  line();
  c.beginPath();
  c.moveTo(x2 + 4 * Math.cos(angle), y2 + 4 * Math.sin(angle));
  for (const side of [2.6, -2.6]) c.lineTo(x2 + 9 * Math.cos(angle + side), y2 + 9 * Math.sin(angle + side));
  c.fill();
};

const middleX = ({ x, width }) => x + width / 2;

/** The point towards which the way from one point to another bends. */
export const bend = (x1, y1, x2, y2) => {
  const [dx, dy] = [x2 - x1, y2 - y1];
  return [(x1 + x2) / 2 - dy * 0.2, Math.max(-5, (y1 + y2) / 2 - Math.min(60, Math.abs(dx) * 0.4))];
};
