/**
 * A probe that the benchmarks install in a viewer page to measure when the slide becomes visible. It compares pixels and does not rely on
 * events of the viewer.
 */

export interface Probe {
  /** Measures from the next event with this name. */
  watch(eventName: 'click' | 'keydown'): Promise<Appearance>;
  /** Measures from the navigation to this page. */
  watchOpening(): Promise<Appearance>;
  /** Records the milliseconds between frames. @returns a function that stops the recording and returns these numbers */
  recordFrameIntervals(): () => number[];
}

/** Milliseconds from an event to changes of the picture. */
export interface Appearance {
  /** To the first pixels of the slide or of its placeholder. */
  readonly first: number;
  /** To the last change of any pixel. */
  readonly sharp: number;
}

declare global {
  interface Window {
    bench: Probe;
  }
}

/** Installs the probe in the page, which gets only the function's source text: it must use nothing outside itself. */
export function installProbe(): void {
  /** Size in pixels of the reduced copy of the canvas that is compared. */
  const sample = { width: 160, height: 100 };
  const sampleContext = new OffscreenCanvas(sample.width, sample.height).getContext('2d', {
    willReadFrequently: true,
  });
  /** The picture counts as complete after this time without a change. It is longer than the wait before a failed tile is requested again. */
  const unchangedMs = 1200;

  /** Returns a hash of the pixels of the page's largest canvas; 0 while it is empty. */
  function hashPixels(): number {
    const canvases = [...document.querySelectorAll<HTMLCanvasElement>('.openseadragon-canvas > canvas')];
    const largest = canvases.sort((a, b) => b.width - a.width)[0];
    if (!sampleContext || !largest || largest.width === 0) return 0;
    sampleContext.clearRect(0, 0, sample.width, sample.height);
    sampleContext.drawImage(largest, 0, 0, sample.width, sample.height);
    const { data } = sampleContext.getImageData(0, 0, sample.width, sample.height);
    let hash = 0;
    for (const value of data) hash = (Math.imul(hash, 31) + value) | 0;
    return data.some((value) => value !== 0) ? hash : 0;
  }

  /** Returns whether the placeholder of the slide (its thumbnail, enlarged to more than 300 pixels) is visible. */
  function hasPlaceholder(): boolean {
    return [...document.images].some(
      (image) => image.complete && image.naturalWidth > 0 && image.getBoundingClientRect().width > 300,
    );
  }

  /** Compares the pixels in every frame until the picture is complete. @param startedAt milliseconds since the navigation */
  function watchFrom(startedAt: number): Promise<Appearance> {
    return new Promise((resolve) => {
      let previous = hashPixels();
      let firstVisibleAt: number | null = null;
      let lastChangeAt: number | null = null;
      const compareFrame = () => {
        const now = performance.now();
        const hash = hashPixels();
        if (hash !== previous) {
          previous = hash;
          lastChangeAt = now;
        }
        if (firstVisibleAt === null && (hasPlaceholder() || (lastChangeAt !== null && hash !== 0))) {
          firstVisibleAt = now;
        }
        if (
          firstVisibleAt !== null &&
          lastChangeAt !== null &&
          hash !== 0 &&
          now - lastChangeAt > unchangedMs
        ) {
          resolve({ first: firstVisibleAt - startedAt, sharp: lastChangeAt - startedAt });
        } else requestAnimationFrame(compareFrame);
      };
      requestAnimationFrame(compareFrame);
    });
  }

  function watch(eventName: 'click' | 'keydown'): Promise<Appearance> {
    return new Promise((resolve) => {
      const startWatching = () => resolve(watchFrom(performance.now()));
      addEventListener(eventName, startWatching, { capture: true, once: true });
    });
  }

  /** Measures from time 0, because times in a page are counted from its navigation. */
  function watchOpening(): Promise<Appearance> {
    return watchFrom(0);
  }

  function recordFrameIntervals(): () => number[] {
    const intervals: number[] = [];
    let isStopped = false;
    let lastFrameAt: number | null = null;
    const recordFrame = (now: number) => {
      if (lastFrameAt !== null) intervals.push(now - lastFrameAt);
      lastFrameAt = now;
      if (!isStopped) requestAnimationFrame(recordFrame);
    };
    requestAnimationFrame(recordFrame);
    return () => {
      isStopped = true;
      return intervals;
    };
  }

  window.bench = { watch, watchOpening, recordFrameIntervals };
}
