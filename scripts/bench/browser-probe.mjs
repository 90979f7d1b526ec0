/**
 * What runs in the page to tell when something is seen: pixels are looked at, not the program that draws them.
 *
 * Given to the browser as text, so it may use nothing from outside itself.
 */
export function installProbe() {
  const small = { width: 160, height: 100 };
  const glass = new OffscreenCanvas(small.width, small.height).getContext('2d', { willReadFrequently: true });
  /** Without a change for so long a picture is finished; longer than OpenSeadragon waits before it tries a tile again. */
  const finishedMs = 700;

  /** The largest canvas of the page, as a number that changes with its pixels; 0 while it is empty. */
  function pixelsNow() {
    const canvases = [...document.querySelectorAll('.openseadragon-canvas > canvas')];
    const largest = canvases.sort((one, other) => other.width - one.width)[0];
    if (!largest || largest.width === 0) return 0;
    glass.clearRect(0, 0, small.width, small.height);
    glass.drawImage(largest, 0, 0, small.width, small.height);
    const { data } = glass.getImageData(0, 0, small.width, small.height);
    let sum = 0;
    for (let i = 0; i < data.length; i += 1) sum = (Math.imul(sum, 31) + data[i]) | 0;
    return data.some((value) => value !== 0) ? sum : 0;
  }

  /** A picture of the slide that stands in for it. */
  function hasPicture() {
    return [...document.images].some(
      (image) => image.complete && image.naturalWidth > 0 && image.getBoundingClientRect().width > 300,
    );
  }

  /**
   * From the next of these events on.
   *
   * @returns milliseconds from it to the first pixels of the slide, and to the last change of them
   */
  function watch(eventName) {
    return new Promise((resolve) => {
      addEventListener(
        eventName,
        () => {
          const began = performance.now();
          const before = pixelsNow();
          let seen = before;
          let first = null;
          let changed = null;
          const look = () => {
            const now = performance.now();
            const pixels = pixelsNow();
            if (pixels !== seen) {
              seen = pixels;
              changed = now;
            }
            if (first === null && (hasPicture() || (changed !== null && pixels !== 0))) first = now;
            if (changed !== null && pixels !== 0 && now - changed > finishedMs) {
              resolve({ first: first - began, sharp: changed - began });
            } else requestAnimationFrame(look);
          };
          requestAnimationFrame(look);
        },
        { capture: true, once: true },
      );
    });
  }

  /** Times between frames until `stop` is called, milliseconds. */
  function countFrames() {
    const gaps = [];
    let isOver = false;
    let last = null;
    const count = (now) => {
      if (last !== null) gaps.push(now - last);
      last = now;
      if (!isOver) requestAnimationFrame(count);
    };
    requestAnimationFrame(count);
    return () => {
      isOver = true;
      return gaps;
    };
  }

  window.bench = { watch, countFrames };
}
