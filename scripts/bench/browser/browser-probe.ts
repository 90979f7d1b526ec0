/** Measures in the page when the slide becomes visible: it compares pixels instead of asking the viewer. */

export interface Probe {
  /** Measures from the next event of this name on. */
  watch(eventName: 'click' | 'keydown'): Promise<Appearance>;
  /** Measures from the navigation to this page. */
  watchOpening(): Promise<Appearance>;
  /** Records the milliseconds between frames until the returned function is called. */
  countFrames(): () => number[];
}

/** Milliseconds from an event to the first pixels of the slide, and to the last change of its pixels. */
export interface Appearance {
  readonly first: number;
  readonly sharp: number;
}

declare global {
  interface Window {
    bench: Probe;
  }
}

/** Runs in the browser, which gets the source text of this function: it must not use anything from outside itself. */
export function installProbe(): void {
  const sample = { width: 160, height: 100 };
  const sampled = new OffscreenCanvas(sample.width, sample.height).getContext('2d', {
    willReadFrequently: true,
  });
  /** A picture is complete after this time without a change; longer than OpenSeadragon waits before it retries a tile. */
  const unchangedMs = 700;

  /** Returns a hash of the pixels of the page's largest canvas; 0 while it is empty. */
  function hashPixels(): number {
    const canvases = [...document.querySelectorAll<HTMLCanvasElement>('.openseadragon-canvas > canvas')];
    const largest = canvases.sort((one, other) => other.width - one.width)[0];
    if (!sampled || !largest || largest.width === 0) return 0;
    sampled.clearRect(0, 0, sample.width, sample.height);
    sampled.drawImage(largest, 0, 0, sample.width, sample.height);
    const { data } = sampled.getImageData(0, 0, sample.width, sample.height);
    let hash = 0;
    for (const value of data) hash = (Math.imul(hash, 31) + value) | 0;
    return data.some((value) => value !== 0) ? hash : 0;
  }

  /** Returns whether the placeholder picture of the slide is visible. */
  function hasPlaceholder(): boolean {
    return [...document.images].some(
      (image) => image.complete && image.naturalWidth > 0 && image.getBoundingClientRect().width > 300,
    );
  }

  function watchFrom(startedAt: number): Promise<Appearance> {
    return new Promise((resolve) => {
      let previous = hashPixels();
      let first: number | null = null;
      let changed: number | null = null;
      const compare = () => {
        const now = performance.now();
        const hash = hashPixels();
        if (hash !== previous) {
          previous = hash;
          changed = now;
        }
        if (first === null && (hasPlaceholder() || (changed !== null && hash !== 0))) first = now;
        if (first !== null && changed !== null && hash !== 0 && now - changed > unchangedMs) {
          resolve({ first: first - startedAt, sharp: changed - startedAt });
        } else requestAnimationFrame(compare);
      };
      requestAnimationFrame(compare);
    });
  }

  function watch(eventName: 'click' | 'keydown'): Promise<Appearance> {
    return new Promise((resolve) => {
      const begin = () => resolve(watchFrom(performance.now()));
      addEventListener(eventName, begin, { capture: true, once: true });
    });
  }

  /** Times in a page count from its navigation. */
  function watchOpening(): Promise<Appearance> {
    return watchFrom(0);
  }

  function countFrames(): () => number[] {
    const gaps: number[] = [];
    let isOver = false;
    let last: number | null = null;
    const count = (now: number) => {
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

  window.bench = { watch, watchOpening, countFrames };
}
