/** When the person last used pointer, wheel or keyboard on this page. */

let lastActivity = performance.now();
const note = () => {
  lastActivity = performance.now();
};
for (const type of ['pointermove', 'pointerdown', 'wheel', 'keydown']) {
  window.addEventListener(type, note, { capture: true, passive: true });
}

/** Whether the page was opened or used within this time. */
export function wasActiveWithin(ms: number): boolean {
  return performance.now() - lastActivity <= ms;
}
