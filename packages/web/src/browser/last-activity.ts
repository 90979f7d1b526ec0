/** The time at which the user last used pointer, wheel or keyboard on this page. */

let lastActivityMs = performance.now();
const recordActivity = () => {
  lastActivityMs = performance.now();
};
for (const type of ['pointermove', 'pointerdown', 'wheel', 'keydown']) {
  window.addEventListener(type, recordActivity, { capture: true, passive: true });
}

/** Returns whether the page was opened or used in the last `ms` milliseconds. */
export function wasActiveWithin(ms: number): boolean {
  return performance.now() - lastActivityMs <= ms;
}
