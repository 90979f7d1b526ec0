/** Counts the graphics resources of the viewer from inside the page, and serves a large slide from inside the page. */
import type { Browser, Page } from '@playwright/test';

/** Numbers of live resources, and of expensive calls since the page was opened. */
export interface GraphicsCounts {
  readonly objectUrls: number;
  readonly bitmaps: number;
  readonly textures: number;
  /** JPEG images that were decoded on the main thread, while they were copied to a texture. */
  readonly mainThreadDecodes: number;
  /** Copies of a whole canvas to another one. */
  readonly canvasCopies: number;
  readonly contexts: number;
}

/** Arguments that start Chromium with WebGL in software; `countGraphics` makes it look like a graphics card to the viewer. */
export const webGlArguments = [
  '--no-sandbox',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--enable-unsafe-swiftshader',
  '--ignore-gpu-blocklist',
  '--force-color-profile=srgb',
];

/** Makes the viewer use a drawer (the part of OpenSeadragon that draws tiles), independent of the graphics card. */
export async function forceDrawer(page: Page, drawer: 'webgl' | 'canvas'): Promise<void> {
  await page.addInitScript((choice) => localStorage.setItem('viewer_drawer', choice), drawer);
}

/** Makes the page count its graphics resources, and makes WebGL in software look like a graphics card. */
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
    const alive = new Set<string>();
    const { createObjectURL, revokeObjectURL } = URL;
    URL.createObjectURL = (object) => {
      const url = createObjectURL.call(URL, object);
      alive.add(url);
      counts.objectUrls = alive.size;
      return url;
    };
    URL.revokeObjectURL = (url) => {
      revokeObjectURL.call(URL, url);
      alive.delete(url);
      counts.objectUrls = alive.size;
    };

    const create = window.createImageBitmap;
    const wrapped = async (...parameters: Parameters<typeof create>) => {
      const bitmap = await create.apply(window, parameters);
      counts.bitmaps += 1;
      return bitmap;
    };
    window.createImageBitmap = wrapped as typeof create;
    const { close } = ImageBitmap.prototype;
    ImageBitmap.prototype.close = function closeCounted() {
      if (this.width > 0) counts.bitmaps -= 1;
      close.call(this);
    };

    const { getContext } = HTMLCanvasElement.prototype;
    HTMLCanvasElement.prototype.getContext = function getContextCounted(
      this: HTMLCanvasElement,
      kind: string,
      options?: object,
    ) {
      const isNew = kind.startsWith('webgl') && !this.hasAttribute('data-webgl');
      if (kind.startsWith('webgl')) this.setAttribute('data-webgl', kind);
      if (isNew) counts.contexts += 1;
      return getContext.call(this, kind, { ...options, failIfMajorPerformanceCaveat: false });
    } as typeof getContext;

    for (const { prototype } of [WebGLRenderingContext, WebGL2RenderingContext]) {
      const { createTexture, deleteTexture, getParameter, texImage2D, texSubImage2D } = prototype;
      const unmaskedRenderer = 0x9246;
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
      const counted = (upload: unknown) =>
        function uploadCounted(this: unknown, ...parameters: unknown[]) {
          if (parameters.some((value) => value instanceof HTMLImageElement)) counts.mainThreadDecodes += 1;
          return (upload as (...values: unknown[]) => unknown).apply(this, parameters);
        };
      Object.assign(prototype, {
        texImage2D: counted(texImage2D),
        texSubImage2D: counted(texSubImage2D),
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

/** Side of the tiles of the slide that `serveLargeSlide` serves. */
export const tileSize = 240;
const descriptor = (side: number) =>
  `<?xml version="1.0"?><Image xmlns="http://schemas.microsoft.com/deepzoom/2008" TileSize="${tileSize}" Overlap="0" Format="jpeg"><Size Width="${side}" Height="${side}"/></Image>`;

/**
 * Replaces the slide with a square slide whose tiles are created in the page: JPEG images of noise with the file size of tissue. The page
 * can then load thousands of tiles per minute.
 */
export async function serveLargeSlide(page: Page, side: number): Promise<void> {
  await page.addInitScript(
    ({ size, xml }) => {
      let served = 0;
      Object.assign(window, { servedTiles: () => served });
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
        const address = input instanceof Request ? input.url : String(input);
        if (address.includes('/image.dzi')) {
          return new Response(xml, { headers: { 'content-type': 'application/xml' } });
        }
        if (!address.includes('/image_files/')) return await fetch(input, init);
        served += 1;
        return new Response(await tile, { headers: { 'content-type': 'image/jpeg' } });
      };
    },
    { size: tileSize, xml: descriptor(side) },
  );
}

/** Returns how many tiles the page has loaded. */
export function servedTiles(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { servedTiles: () => number }).servedTiles());
}

/** Pans with the arrow keys, row by row over parts of the slide that are not loaded, until the page has loaded `tiles` tiles. */
export async function panUntil(page: Page, tiles: number): Promise<void> {
  await page.evaluate(async (wanted) => {
    const { servedTiles: served } = window as unknown as { servedTiles: () => number };
    for (let step = 0; served() < wanted; step += 1) {
      const row = Math.floor(step / 300);
      const sideways = row % 2 === 0 ? 'ArrowRight' : 'ArrowLeft';
      const key = step % 300 > 292 ? 'ArrowDown' : sideways;
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true }));
      await new Promise((done) => setTimeout(done, 40));
    }
  }, tiles);
}
