/**
 * A probe that the benchmarks install in a viewer page to measure how it draws annotations. Points in time are milliseconds since
 * the navigation.
 */

interface AnnotationProbe {
  /** Time of the first request for the list of annotations; 0 before the request. */
  listRequestedAt: number;
  /** Time of the first drawing of an annotation; 0 before it. */
  firstPictureAt: number;
  /** Milliseconds that the main thread spent on annotations in each frame. */
  frames: number[];
  /** Milliseconds from each release of the pointer to the end of the task that handles the release, and to the end of the next frame. */
  releases: { work: number; picture: number }[];
  /** Tasks of the main thread of at least 50 ms: the time of their end, and their duration. */
  longTasks: { readonly end: number; readonly ms: number }[];
}

declare global {
  interface Window {
    annotationProbe: AnnotationProbe;
  }
}

/** Installs the probe. The page gets only the source text of this function, so the function must use nothing outside itself. */
export function installAnnotationProbe(): void {
  const probe: AnnotationProbe = {
    listRequestedAt: 0,
    firstPictureAt: 0,
    frames: [],
    releases: [],
    longTasks: [],
  };
  window.annotationProbe = probe;
  let frameStartedAt = 0; // 0 while no frame is being drawn
  const { fetch } = window;
  window.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (/annotation-layers\/[^/]+\/annotations/.test(url)) probe.listRequestedAt ||= performance.now();
    return fetch(input, init);
  };
  const { clearRect, stroke } = CanvasRenderingContext2D.prototype;
  /** Returns the element with the canvases of the annotations; null for other canvases. */
  const annotationCanvasesOf = ({ canvas }: CanvasRenderingContext2D) => {
    const parent = canvas instanceof HTMLCanvasElement ? canvas.parentElement : null;
    return parent?.className.includes('canvases') ? parent : null;
  };
  // In each frame the page clears and draws the canvas of all annotations, then clears the canvas of the shape being drawn.
  CanvasRenderingContext2D.prototype.clearRect = function clearMeasured(...area) {
    const canvases = annotationCanvasesOf(this);
    if (canvases !== null && this.canvas === canvases.firstElementChild) frameStartedAt = performance.now();
    else if (canvases !== null && frameStartedAt > 0) {
      probe.frames.push(performance.now() - frameStartedAt);
      frameStartedAt = 0;
    }
    clearRect.apply(this, area);
  };
  CanvasRenderingContext2D.prototype.stroke = function strokeMeasured(
    this: CanvasRenderingContext2D,
    path?: Path2D,
  ) {
    Reflect.apply(stroke, this, path === undefined ? [] : [path]);
    if (probe.firstPictureAt === 0 && annotationCanvasesOf(this) !== null)
      probe.firstPictureAt = performance.now();
  };
  window.addEventListener(
    'pointerup',
    () => {
      const startedAt = performance.now();
      const release = { work: 0, picture: 0 };
      probe.releases.push(release);
      // Runs a function directly after the current task. It uses a message, because a timer could fire later.
      const runAfterTask = (done: () => void) => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = done;
        port2.postMessage(null);
      };
      runAfterTask(() => {
        release.work = performance.now() - startedAt;
        requestAnimationFrame(() => {
          runAfterTask(() => {
            release.picture = performance.now() - startedAt;
          });
        });
      });
    },
    { capture: true },
  );
  new PerformanceObserver((list) => {
    for (const { startTime, duration } of list.getEntries()) {
      probe.longTasks.push({ end: startTime + duration, ms: duration });
    }
  }).observe({ entryTypes: ['longtask'] });
}
