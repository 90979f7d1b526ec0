/** Records when the person last used pointer, wheel or keyboard on this page. */

let lastActivity = performance.now();
const recordActivity = () => {
  lastActivity = performance.now();
};
for (const type of ['pointermove', 'pointerdown', 'wheel', 'keydown']) {
  window.addEventListener(type, recordActivity, { capture: true, passive: true });
}

/** Whether the page was opened or used within this time. */
export function wasActiveWithin(ms: number): boolean {
  return performance.now() - lastActivity <= ms;
}
