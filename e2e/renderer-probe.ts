/** Scripts that count the viewer's graphics resources and that simulate a large slide in the page, for browser tests and benchmarks. */
import type { Browser, Page } from '@playwright/test';

export interface GraphicsCounts {
  /** Object URLs, ImageBitmaps and WebGL textures that are created and not yet released. */
  readonly objectUrls: number;
  readonly bitmaps: number;
  readonly textures: number;
  // The following numbers are totals since the page was opened.
  /** JPEG images that were decoded on the main thread, while they were copied to a texture. */
  readonly mainThreadDecodes: number;
  /** Copies from a canvas that is at least half as wide as the window. */
  readonly canvasCopies: number;
  /** WebGL contexts that were requested. */
  readonly contexts: number;
}

/**
 * Arguments that start Chromium with WebGL in software. The viewer uses WebGL in software only after `forceDrawer`, or
 * when `countGraphics` makes the page report a graphics card.
 */
export const webGlArguments = [
  '--no-sandbox',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--force-color-profile=srgb',
];

/** Makes the viewer use a drawer (the part of OpenSeadragon that draws tiles), independently of the graphics card. */
export async function forceDrawer(page: Page, drawer: 'webgl' | 'canvas'): Promise<void> {
  await page.addInitScript((choice) => localStorage.setItem('viewer_drawer', choice), drawer);
}

/** Makes the page count its graphics resources, and report WebGL in software as a graphics card. Replaces functions of the browser. */
export async function countGraphics(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const counts = {
      objectUrls: 0,
      bitmaps: 0,
      textures: 0,
      mainThreadDecodes: 0,
      canvasCopies: 0,
      contexts: 0,
    };
    Object.assign(window, { graphicsCounts: counts });
    const liveUrls = new Set<string>();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (object) => {
      const url = createObjectURL.call(URL, object);
      liveUrls.add(url);
      counts.objectUrls = liveUrls.size;
      return url;
    };
    URL.revokeObjectURL = (url) => {
      revokeObjectURL.call(URL, url);
      liveUrls.delete(url);
      counts.objectUrls = liveUrls.size;
    };

    const { createImageBitmap } = window;
    const createCounted = async (...parameters: Parameters<typeof createImageBitmap>) => {
      const bitmap = await createImageBitmap.apply(window, parameters);
      counts.bitmaps += 1;
      return bitmap;
    };
    window.createImageBitmap = createCounted as typeof createImageBitmap;
    const { close } = ImageBitmap.prototype;
    ImageBitmap.prototype.close = function closeCounted() {
      if (this.width > 0) counts.bitmaps -= 1; // a closed bitmap has width 0 and is not counted twice
      close.call(this);
    };

    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function getContextCounted(
      this: HTMLCanvasElement,
      kind: string,
      options?: object,
    ) {
      const isWebGl = kind.startsWith('webgl');
      if (isWebGl && !this.hasAttribute('data-webgl')) counts.contexts += 1; // later calls return the same context
      if (isWebGl) this.setAttribute('data-webgl', kind);
      // The viewer may set this option to true; the browser then creates no context in software.
      return getContext.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false });
    } as typeof getContext;

    for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext]) {
      const { createTexture, deleteTexture, getParameter, texImage2D, texSubImage2D } = prototype;
      const unmaskedRenderer = 0x9246; // UNMASKED_RENDERER_WEBGL
      prototype.getParameter = function getParameterOfCard(name): unknown {
        return name === unmaskedRenderer ? 'ANGLE (Test card)' : getParameter.call(this, name);
      };
      prototype.createTexture = function createTextureCounted() {
        counts.textures += 1;
        return createTexture.call(this);
      };
      prototype.deleteTexture = function deleteTextureCounted(texture) {
        if (texture !== null) counts.textures -= 1;
        deleteTexture.call(this, texture);
      };
      const countingUpload = (upload: unknown) =>
        function uploadCounted(this: unknown, ...parameters: unknown[]) {
          if (parameters.some((value) => value instanceof HTMLImageElement)) counts.mainThreadDecodes += 1;
          return (upload as (...values: unknown[]) => unknown).apply(this, parameters);
        };
      Object.assign(prototype, {
        texImage2D: countingUpload(texImage2D),
        texSubImage2D: countingUpload(texSubImage2D),
      });
    }

    const { drawImage } = CanvasRenderingContext2D.prototype;
    CanvasRenderingContext2D.prototype.drawImage = function drawImageCounted(
      this: CanvasRenderingContext2D,
      ...parameters: unknown[]
    ) {
      const [source] = parameters;
      if (source instanceof HTMLCanvasElement && source.width >= window.innerWidth / 2) {
        counts.canvasCopies += 1;
      }
      return (drawImage as (...values: unknown[]) => void).apply(this, parameters);
    } as typeof drawImage;
  });
}

/** Returns the counts of a page that `countGraphics` has prepared. */
export function graphicsOf(page: Page): Promise<GraphicsCounts> {
  return page.evaluate(() => (window as unknown as { graphicsCounts: GraphicsCounts }).graphicsCounts);
}

/** Collects garbage in the page. */
export async function collectGarbage(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  await session.detach();
}

/** Returns the process identifiers of the browser, by type. */
export async function processesOf(browser: Browser): Promise<readonly { type: string; id: number }[]> {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  await session.detach();
  return processInfo;
}

/** Side in pixels of the tiles of the slide that `serveLargeSlide` serves. */
export const tileSize = 240;
/** Returns the Deep Zoom descriptor of a square slide. @param side in pixels */
const descriptorOf = (side: number) =>
  `<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="${tileSize}" Overlap="0" Format="jpeg"><Size Width="${side}" Height="${side}"/></Image>`;

/**
 * Replaces the slide with a square slide whose tiles are created in the page: JPEG images of noise with the file size of tissue. The page
 * can then load thousands of tiles per minute.
 */
export async function serveLargeSlide(page: Page, side: number): Promise<void> {
  await page.addInitScript(
    ({ size, xml }) => {
      let served = 0;
      Object.assign(window, { countServedTiles: () => served });
      const { fetch } = window;
      const canvas = new OffscreenCanvas(size, size);
      const context = canvas.getContext('2d');
      if (context === null) throw new Error('The browser created no canvas context.');
      const pixels = context.createImageData(size, size);
      for (let index = 0; index < pixels.data.length; index += 4) {
        const colour = [200 + Math.random() * 30, 120 + Math.random() * 60, 170 + Math.random() * 40, 255];
        pixels.data.set(colour, index);
      }
      context.putImageData(pixels, 0, 0);
      const tile = canvas
        .convertToBlob({ type: 'image/jpeg', quality: 0.9 })
        .then((blob) => blob.arrayBuffer());
      window.fetch = async (input, init) => {
        const url = input instanceof Request ? input.url : String(input);
        if (url.includes('/image.dzi')) {
          return new Response(xml, { headers: { 'content-type': 'application/xml' } });
        }
        if (!url.includes('/image_files/')) return await fetch(input, init);
        served += 1;
        return new Response(await tile, { headers: { 'content-type': 'image/jpeg' } });
      };
    },
    { size: tileSize, xml: descriptorOf(side) },
  );
}

/** Returns how many tiles the page has loaded since `serveLargeSlide`. */
export function countServedTiles(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { countServedTiles: () => number }).countServedTiles());
}

/** Pans with the arrow keys, row by row over parts of the slide that are not loaded yet, until `serveLargeSlide` has served `tiles` tiles. */
export async function panUntil(page: Page, tiles: number): Promise<void> {
  await page.evaluate(async (targetCount) => {
    const { countServedTiles } = window as unknown as { countServedTiles: () => number };
    const [sidewaysSteps, stepsPerRow] = [293, 300]; // 293 steps sideways, then 7 down
    for (let step = 0; countServedTiles() < targetCount; step += 1) {
      const row = Math.floor(step / stepsPerRow);
      const sideways = row % 2 === 0 ? 'ArrowRight' : 'ArrowLeft';
      const key = step % stepsPerRow >= sidewaysSteps ? 'ArrowDown' : sideways;
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      await new Promise((done) => setTimeout(done, 40));
    }
  }, tiles);
}
