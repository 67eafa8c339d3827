const QUICKEST = 1; // seconds that a step lasts at speed 1, unless it has many events
const A_EVENT = 0.12; // seconds for each event then
const SLOWEST = 4;

/** Milliseconds from one event to the next, in a step of so many events, at a speed of 1 or of so many times it. */
export const pause = (numEvents, speed) =>
  (1000 * Math.min(SLOWEST, Math.max(QUICKEST, A_EVENT * numEvents))) / numEvents / speed;

/** How far a history comes in `milliseconds` from `position` on: { position, left }, the latter the time unused. */
export const advance = (history, position, milliseconds, speed) => {
  let left = milliseconds;
  while (position < history.length) {
    const numEvents = history.stepAfter(position) - history.stepBefore(position + 1);
    const needed = pause(numEvents, speed);
    if (needed > left) break;
    left -= needed;
    position += 1;
  }
  return { position, left };
};
