/** A probe that the benchmarks install in a viewer page to measure how it draws a result layer (`overlay` in URLs of the API). */

interface LayerProbe {
  /** Time of the first request for the layer, milliseconds since the navigation; 0 before the request. */
  requestedAt: number;
  /** Number of requests for result layers since the navigation, or since the benchmark set it to 0. */
  requests: number;
  /** Milliseconds from the start of each drawn frame to its last drawing call; added when the next frame starts. */
  frames: number[];
  /** Milliseconds and frames from the last `change` event of a control until the layer was drawn again; null until then. */
  change: { readonly ms: number; readonly frames: number } | null;
}

declare global {
  interface Window {
    layerProbe: LayerProbe;
  }
}

/** Installs the probe in the page, which gets only the function's source text: it must use nothing outside itself. */
export function installLayerProbe(): void {
  const probe: LayerProbe = { requestedAt: 0, requests: 0, frames: [], change: null };
  window.layerProbe = probe;
  const { fetch: originalFetch } = window;
  window.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input);
    if (/\/image-catalog\/overlays\//.test(url)) {
      probe.requestedAt ||= performance.now();
      probe.requests++;
    }
    return originalFetch(input, init);
  };
  /** Start of the current frame, in milliseconds since the navigation; 0 before the first frame. */
  let frameStartedAt = 0;
  /** Time of the last drawing call, also in milliseconds since the navigation. */
  let drawnAt = 0;
  const isLayerCanvas = ({ canvas }: CanvasRenderingContext2D) =>
    canvas instanceof HTMLCanvasElement && canvas.dataset.resultLayer !== undefined;
  const { prototype } = CanvasRenderingContext2D;
  // The viewer clears the canvas of a layer at the start of each frame. At that moment the previous frame is complete.
  const { clearRect: originalClearRect } = prototype;
  prototype.clearRect = function clearMeasured(...area) {
    if (isLayerCanvas(this)) {
      if (drawnAt > frameStartedAt && frameStartedAt > 0) probe.frames.push(drawnAt - frameStartedAt);
      frameStartedAt = performance.now();
    }
    originalClearRect.apply(this, area);
  };
  for (const name of ['drawImage', 'stroke', 'fill', 'fillRect'] as const) {
    const originalDraw = prototype[name] as (...parameters: unknown[]) => void;
    const drawMeasured = function drawMeasured(this: CanvasRenderingContext2D, ...parameters: unknown[]) {
      originalDraw.apply(this, parameters);
      if (isLayerCanvas(this)) drawnAt = performance.now();
    };
    Object.assign(prototype, { [name]: drawMeasured });
  }
  document.addEventListener(
    'change',
    () => {
      const changedAt = performance.now();
      let frames = 0;
      probe.change = null;
      const checkFrame = () => {
        if (drawnAt > changedAt) probe.change = { ms: drawnAt - changedAt, frames };
        else {
          frames++;
          requestAnimationFrame(checkFrame);
        }
      };
      requestAnimationFrame(checkFrame);
    },
    { capture: true },
  );
}
