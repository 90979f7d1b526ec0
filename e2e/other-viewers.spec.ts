/**
 * Interoperability with viewers of other projects: dicomweb-client and dicom-microscopy-viewer load slides through DICOMweb, and
 * OpenSeadragon loads them through IIIF. The tests use three real slides: an SVS file with JPEG tiles, an SVS file with JPEG 2000 tiles
 * and a colour profile, and DICOM files. They are skipped without the folder in TEST_SLIDES.
 */
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { administratorToken, callApi } from './accounts.ts';
import {
  crop,
  type DeepZoomImage,
  type Difference,
  decode,
  differenceOf,
  openDeepZoomImage,
  type Pixels,
} from './deep-zoom-pixels.ts';
import { type Product, startProduct } from './product.ts';
import { webGlArguments } from './renderer-probe.ts';
import { serveViewerPage, type ViewerPage } from './viewer-page.ts';

/** Folder with real slides; without TEST_SLIDES it is a folder that does not exist. */
const slidesDir = process.env.TEST_SLIDES ?? 'no-slides';

interface TestedSlide {
  /** Path below TEST_SLIDES. */
  readonly path: string;
  /**
   * Largest allowed mean difference between a DICOM frame and the Deep Zoom tile (0 to 255). The limit is higher for a
   * slide in JPEG 2000, because the server converts its tiles to JPEG.
   */
  readonly tolerance: number;
  /** A position with tissue, in pixels of full resolution. */
  readonly field: Position;
}

interface Position {
  readonly x: number;
  readonly y: number;
}

const slides: readonly TestedSlide[] = [
  { path: 'aperio/CMU-1-Small-Region.svs', tolerance: 0.5, field: { x: 740, y: 880 } },
  { path: 'aperio/1065626.svs', tolerance: 3, field: { x: 8100, y: 7300 } },
  { path: 'dicom/cmu-1-small-region', tolerance: 0.5, field: { x: 740, y: 880 } },
];

test.skip(!existsSync(slidesDir), 'The folder in TEST_SLIDES does not exist.');
test.use({
  viewport: { width: 820, height: 620 },
  trace: 'off',
  launchOptions: {
    executablePath: process.env.PLAYWRIGHT_CHROMIUM ?? '/usr/bin/chromium',
    args: webGlArguments,
  },
});

// The interfaces up to `PageScripts` declare the parts of the libraries that the tests use. The libraries have no complete types.
interface Client {
  searchForStudies(options?: object): Promise<DataSet[]>;
  searchForSeries(options?: object): Promise<DataSet[]>;
  searchForInstances(options?: object): Promise<DataSet[]>;
  retrieveSeriesMetadata(options: object): Promise<DataSet[]>;
  retrieveInstanceMetadata(options: object): Promise<DataSet>;
  retrieveInstanceFrames(options: object): Promise<ArrayBuffer[]>;
}
type DataSet = Record<string, { readonly Value?: readonly unknown[] } | undefined>;
interface VolumeImageViewer {
  render(options: object): void;
}
/** Frames (tiles in DICOM) that dicom-microscopy-viewer has loaded; the script of the test in the page updates the numbers. */
interface ShownFrames {
  /** Number of frames whose loading has started. */
  started: number;
  /** Number of frames that are being loaded. */
  pending: number;
  failures: number;
  /** Decoded frames of full resolution by number. */
  readonly frames: Map<number, Uint8Array>;
}
interface IiifViewer {
  addOnceHandler(event: 'open' | 'open-failed', handler: (event: { message?: string }) => void): void;
  readonly world: { getItemAt(index: number): TiledImage };
  readonly viewport: {
    zoomTo(zoom: number, at: undefined, immediately: true): void;
    panTo(place: object, immediately: true): void;
  };
}
interface TiledImage {
  getFullyLoaded(): boolean;
  imageToViewportZoom(zoom: number): number;
  imageToViewportCoordinates(x: number, y: number): object;
}
interface PageScripts {
  readonly DICOMwebClient: { readonly api: { readonly DICOMwebClient: new (options: object) => Client } };
  readonly dicomMicroscopyViewer: {
    readonly metadata: { readonly VLWholeSlideMicroscopyImage: new (options: object) => object };
    readonly viewer: { readonly VolumeImageViewer: new (options: object) => VolumeImageViewer };
  };
  readonly OpenSeadragon: new (options: object) => IiifViewer;
  shownFrames: ShownFrames;
  dicomViewer: VolumeImageViewer;
  iiifViewer: IiifViewer;
}

interface OpenedSlide {
  /** Id in the catalogue. */
  readonly imageId: string;
  /** UIDs of the DICOM study and series. */
  readonly study: string;
  readonly series: string;
  readonly image: DeepZoomImage;
}

let product: Product;
let viewers: ViewerPage;
/** API token with the scope slides:read. */
let token: string;

test.beforeAll(async () => {
  viewers = await serveViewerPage();
  const copySlides = async (folder: string) => {
    for (const slide of slides) {
      await cp(path.join(slidesDir, slide.path), path.join(folder, slide.path), { recursive: true });
    }
  };
  product = await startProduct(copySlides, { DICOMWEB_ORIGINS: viewers.origin, THROTTLE: 'off' });
  const admin = await administratorToken(product.url);
  const readyCount = async () => (await listImages(admin)).filter(({ status }) => status === 'ready').length;
  await expect.poll(readyCount, { timeout: 50_000, intervals: [100, 250] }).toBe(slides.length);
  const created = await callApi(product.url, 'POST', '/user/api-tokens', {
    token: admin,
    body: { name: 'viewer', scopes: ['slides:read'] },
  });
  token = created.token as string;
});
test.afterAll(async () => {
  await product?.stop();
  await viewers?.stop();
});

interface CatalogueImage {
  readonly id: string;
  readonly file_name: string;
  readonly status: string;
}

/** Returns the images of the catalogue. @param adminToken bearer token of the administrator */
async function listImages(adminToken: string): Promise<readonly CatalogueImage[]> {
  const { images } = await callApi(product.url, 'GET', '/image-catalog/images', { token: adminToken });
  return images as CatalogueImage[];
}

/** Requests a path of the product with the API token and returns the response body. */
async function get(urlPath: string, accept = '*/*'): Promise<Uint8Array> {
  const response = await fetch(product.url + urlPath, {
    headers: { authorization: `Bearer ${token}`, accept },
  });
  if (!response.ok) throw new Error(`${urlPath}: ${response.status} ${await response.text()}`);
  return new Uint8Array(await response.arrayBuffer());
}

const firstValueOf = (dataSet: DataSet | undefined, tag: string) => String(dataSet?.[tag]?.Value?.[0]);

/**
 * Finds the study and series of a slide. The UID of the study is the id of the image as a decimal number
 * (docs/interoperability.md).
 */
async function openSlide(slide: TestedSlide): Promise<OpenedSlide> {
  const name = path.basename(slide.path);
  const images = await listImages(await administratorToken(product.url));
  const hasTestedName = ({ file_name }: CatalogueImage) =>
    slides.some((each) => path.basename(each.path) === file_name);
  // A folder of DICOM files is listed under another name; it is the only image without the name of a tested file.
  const found =
    images.find(({ file_name }) => file_name === name) ?? images.find((image) => !hasTestedName(image));
  if (found === undefined) throw new Error(`${name} is not in the catalogue`);
  const study = `2.25.${BigInt(`0x${found.id.replaceAll('-', '')}`)}`;
  const [series] = JSON.parse(
    Buffer.from(await get(`/dicom-web/studies/${study}/series`)).toString(),
  ) as DataSet[];
  const image = await openDeepZoomImage(found.id, get);
  const seriesInstanceUid = '0020000E';
  return { imageId: found.id, study, series: firstValueOf(series, seriesInstanceUid), image };
}

async function openPage(page: Page): Promise<void> {
  await page.goto(viewers.origin);
  await page.waitForFunction(() => 'dicomMicroscopyViewer' in window && 'OpenSeadragon' in window);
}

/** Returns the connection options of dicomweb-client. */
const connectionOptions = () => ({
  url: `${product.url}/dicom-web`,
  headers: { Authorization: `Bearer ${token}` },
});

/** Waits until two consecutive screenshots of the viewer are equal. @returns the last one, as a PNG file */
async function settledScreen(page: Page): Promise<Buffer> {
  const viewport = page.locator('#viewport');
  let screen = await viewport.screenshot();
  const isSettled = async () => {
    const previous = screen;
    screen = await viewport.screenshot();
    return previous.equals(screen);
  };
  await expect.poll(isSettled, { intervals: [300], timeout: 20_000 }).toBe(true);
  return screen;
}

/** Returns the central part of a screenshot (half its width and half its height), which contains no controls. */
async function middleOf(screenshot: Buffer): Promise<Pixels> {
  const { width, height, data } = await decode(screenshot);
  const [left, top] = [width / 4, height / 4];
  const [middleWidth, middleHeight] = [width / 2, height / 2];
  const rowBytes = middleWidth * 3;
  const middle = new Uint8Array(rowBytes * middleHeight);
  for (let row = 0; row < middleHeight; row++) {
    const start = ((row + top) * width + left) * 3;
    middle.set(data.subarray(start, start + rowBytes), row * rowBytes);
  }
  return { width: middleWidth, height: middleHeight, data: middle };
}

for (const slide of slides) {
  test(`dicomweb-client finds ${slide.path}, reads its metadata and loads the bytes that the DICOMweb endpoint sends`, async ({
    page,
  }) => {
    const { study, series } = await openSlide(slide);
    await openPage(page);
    const found = await page.evaluate(
      async ({ options, study: studyInstanceUID, series: seriesInstanceUID }) => {
        const { DICOMwebClient } = window as unknown as PageScripts;
        const client = new DICOMwebClient.api.DICOMwebClient(options);
        const studies = await client.searchForStudies({ queryParams: { ModalitiesInStudy: 'SM' } });
        const allSeries = await client.searchForSeries({ studyInstanceUID });
        const instances = await client.searchForInstances({ studyInstanceUID, seriesInstanceUID });
        const metadata = await client.retrieveSeriesMetadata({ studyInstanceUID, seriesInstanceUID });
        const frames: { instance: string; hash: string }[] = [];
        for (const instanceMetadata of metadata) {
          const sopInstanceUID = String(instanceMetadata['00080018']?.Value?.[0]); // SOP Instance UID
          const instanceIds = { studyInstanceUID, seriesInstanceUID, sopInstanceUID };
          await client.retrieveInstanceMetadata(instanceIds);
          const mediaTypes = [{ mediaType: 'application/octet-stream', transferSyntaxUID: '*' }];
          const loaded = await client.retrieveInstanceFrames({
            ...instanceIds,
            frameNumbers: [1],
            mediaTypes,
          });
          const digest = await crypto.subtle.digest('SHA-256', loaded[0] ?? new ArrayBuffer());
          const hash = [...new Uint8Array(digest)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
          frames.push({ instance: sopInstanceUID, hash });
        }
        return {
          studies: studies.length,
          series: allSeries.length,
          instances: instances.length,
          metadataCount: metadata.length,
          frames,
        };
      },
      { options: connectionOptions(), study, series },
    );
    expect(found.studies).toBe(slides.length);
    expect(found.series).toBe(1);
    expect(found.instances).toBeGreaterThan(0);
    expect(found.metadataCount).toBe(found.instances);
    for (const { instance, hash } of found.frames) {
      const url = `/dicom-web/studies/${study}/series/${series}/instances/${instance}/frames/1`;
      const bytes = await get(url, 'application/octet-stream; transfer-syntax=*');
      expect(createHash('sha256').update(bytes).digest('hex')).toBe(hash);
    }
  });

  test(`dicom-microscopy-viewer shows ${slide.path} with the pixels of its Deep Zoom tiles`, async ({
    page,
  }, info) => {
    const { study, series, image } = await openSlide(slide);
    await openPage(page);
    await showWithDicomWeb(page, { study, series });
    await waitForFrames(page);
    await showNativeField(page, slide.field);
    await waitForFrames(page, 4);
    const screen = await settledScreen(page);
    await info.attach('screen', { body: screen, contentType: 'image/png' });

    const frames = await mostVariedFrames(page, 4);
    expect(frames).toHaveLength(4);
    // Frames are numbered row by row, from 1.
    const { tileSize } = image;
    const columns = Math.ceil(image.width / tileSize);
    for (const { number, data } of frames) {
      expect(data.length).toBe(tileSize ** 2 * 3); // frames have the size of Deep Zoom tiles
      const tile = await image.readTile((number - 1) % columns, Math.floor((number - 1) / columns));
      const frame = crop({ width: tileSize, height: tileSize, data }, tile);
      const { mean } = differenceOf(frame, tile);
      expect(mean, `frame ${number}`).toBeLessThanOrEqual(slide.tolerance);
    }
    const { mean } = await differenceOnScreen(screen, image, slide.field);
    expect(mean).toBeLessThanOrEqual(slide.tolerance);
  });

  test(`OpenSeadragon shows ${slide.path} through IIIF and loads the bytes of its Deep Zoom tiles`, async ({
    page,
  }, info) => {
    const { imageId, image } = await openSlide(slide);
    await openPage(page);
    const admin = await administratorToken(product.url);
    const { session_id: session } = await callApi(product.url, 'POST', '/auth/image-session', {
      token: admin,
    });
    const manifest = `${product.url}/iiif/session/${String(session)}/manifest/${imageId}`;
    /** Bytes of the loaded tiles of full resolution; the key is `x,y` of the upper left corner. */
    const loadedTiles = new Map<string, Buffer>();
    page.on('response', async (response) => {
      // IIIF addresses contain x, y, width and height of the part, and the size of the response:
      // "…/240,480,240,240/240,240/0/default.jpg".
      const [, x, y, width, shownWidth] =
        /\/(\d+),(\d+),(\d+),\d+\/(\d+),\d+\/0\//.exec(response.url()) ?? [];
      const isFullResolution = width !== undefined && width === shownWidth;
      if (isFullResolution) loadedTiles.set(`${x},${y}`, await response.body());
    });
    await showWithIiif(page, manifest, slide.field);
    const screen = await settledScreen(page);
    await info.attach('screen', { body: screen, contentType: 'image/png' });

    expect(loadedTiles.size).toBeGreaterThanOrEqual(4);
    for (const [corner, bytes] of loadedTiles) {
      const [x = 0, y = 0] = corner.split(',').map(Number);
      const tile = await image.fetchTile(x / image.tileSize, y / image.tileSize);
      expect(Buffer.compare(bytes, tile), `tile at ${corner}`).toBe(0);
    }
    // Not 0, because OpenSeadragon's canvas draws tiles between pixels. A wrong position on the slide would differ by at least 20.
    const { mean } = await differenceOnScreen(screen, image, slide.field);
    expect(mean).toBeLessThan(10);
  });
}

/** Compares the middle of a screenshot with the tiles. The slide may be up to 2 pixels away from the expected position. */
async function differenceOnScreen(
  screen: Buffer,
  image: DeepZoomImage,
  { x, y }: Position,
): Promise<Difference> {
  const shown = await middleOf(screen);
  const margin = 2;
  const expected = await image.readArea({
    left: Math.round(x - shown.width / 2) - margin,
    top: Math.round(y - shown.height / 2) - margin,
    width: shown.width + 2 * margin,
    height: shown.height + 2 * margin,
  });
  return differenceOf(shown, expected);
}

/**
 * Opens a series in dicom-microscopy-viewer. Removes its colour profile, so that the colours are as scanned, like those of the
 * tiles.
 */
function showWithDicomWeb(
  page: Page,
  ids: { readonly study: string; readonly series: string },
): Promise<void> {
  return page.evaluate(
    async ({ options, study: studyInstanceUID, series: seriesInstanceUID }) => {
      const scripts = window as unknown as PageScripts;
      const { DICOMwebClient, dicomMicroscopyViewer } = scripts;
      const client = new DICOMwebClient.api.DICOMwebClient(options);
      const dataSets = await client.retrieveSeriesMetadata({ studyInstanceUID, seriesInstanceUID });
      for (const dataSet of dataSets) {
        const [opticalPath] = (dataSet['00480105']?.Value ?? []) as Record<string, unknown>[]; // Optical Path Sequence
        delete opticalPath?.['00282000']; // ICC Profile
      }
      const metadata = dataSets.map(
        (each) => new dicomMicroscopyViewer.metadata.VLWholeSlideMicroscopyImage({ metadata: each }),
      );
      const widthOf = (dataSet: DataSet) => Number(dataSet['00480006']?.Value?.[0]); // Total Pixel Matrix Columns
      const [largest] = [...dataSets].sort((a, b) => widthOf(b) - widthOf(a));
      if (largest === undefined) throw new Error('The series contains no instance.');

      scripts.shownFrames = { started: 0, pending: 0, failures: 0, frames: new Map() };
      const container = document.querySelector('#viewport');
      const onFrame = (event: string, handle: (payload: Record<string, unknown>) => void) =>
        container?.addEventListener(`dicommicroscopyviewer_frame_loading_${event}`, (dispatched) => {
          handle((dispatched as CustomEvent<{ payload: Record<string, unknown> }>).detail.payload);
        });
      onFrame('started', () => {
        scripts.shownFrames.started++;
        scripts.shownFrames.pending++;
      });
      onFrame('error', () => {
        scripts.shownFrames.failures++;
      });
      onFrame('ended', ({ pixelArray, sopInstanceUID, frameNumber }) => {
        scripts.shownFrames.pending--;
        const isLargest = sopInstanceUID === largest['00080018']?.Value?.[0]; // SOP Instance UID
        if (isLargest && pixelArray instanceof Uint8Array) {
          scripts.shownFrames.frames.set(Number(frameNumber), pixelArray.slice());
        }
      });
      scripts.dicomViewer = new dicomMicroscopyViewer.viewer.VolumeImageViewer({
        client,
        metadata,
        controls: [],
      });
      scripts.dicomViewer.render({ container });
    },
    { options: connectionOptions(), ...ids },
  );
}

/**
 * Shows a position at native magnification. dicom-microscopy-viewer has no function for this, so the test moves the view of its
 * internal map.
 */
function showNativeField(page: Page, field: Position): Promise<void> {
  return page.evaluate(({ x, y }) => {
    interface View {
      setRotation(radians: number): void;
      setResolution(resolution: number): void;
      setCenter(coordinate: readonly [number, number]): void;
    }
    const { dicomViewer } = window as unknown as PageScripts;
    const key = Object.getOwnPropertySymbols(dicomViewer).find(({ description }) => description === 'map');
    const map = Reflect.get(dicomViewer, key ?? '') as { getView(): View };
    const view = map.getView();
    view.setRotation(0); // shows the orientation of the pixels instead of that on the glass
    view.setResolution(1);
    view.setCenter([x, -y]);
  }, field);
}

/** Waits until no frame is being loaded and at least `minFrames` of full resolution are loaded. Fails if loading a frame failed. */
async function waitForFrames(page: Page, minFrames = 0): Promise<void> {
  await page.waitForFunction(
    (count) => {
      const { shownFrames } = window as unknown as PageScripts;
      const isLoaded =
        shownFrames.started > 0 && shownFrames.pending === 0 && shownFrames.frames.size >= count;
      return shownFrames.failures > 0 || isLoaded;
    },
    minFrames,
    { timeout: 30_000 },
  );
  expect(await page.evaluate(() => (window as unknown as PageScripts).shownFrames.failures)).toBe(0);
}

/**
 * Returns the `count` frames of full resolution whose samples have the largest variance, because these show tissue and not empty
 * glass.
 */
async function mostVariedFrames(
  page: Page,
  count: number,
): Promise<readonly { number: number; data: Uint8Array }[]> {
  const chosen = await page.evaluate((maxFrames) => {
    const { frames } = (window as unknown as PageScripts).shownFrames;
    const varianceOf = (data: Uint8Array) => {
      let [sum, squares] = [0, 0];
      for (const value of data) {
        sum += value;
        squares += value * value;
      }
      return squares / data.length - (sum / data.length) ** 2;
    };
    const sorted = [...frames]
      .map(([number, data]) => ({ number, data, variance: varianceOf(data) }))
      .sort((a, b) => b.variance - a.variance);
    return sorted.slice(0, maxFrames).map(({ number, data }) => {
      let text = '';
      for (let offset = 0; offset < data.length; offset += 8192)
        text += String.fromCharCode(...data.subarray(offset, offset + 8192));
      return { number, base64: btoa(text) };
    });
  }, count);
  return chosen.map(({ number, base64 }) => ({ number, data: Buffer.from(base64, 'base64') }));
}

/** Opens the image of a manifest in OpenSeadragon at native magnification. */
async function showWithIiif(page: Page, manifestUrl: string, field: Position): Promise<void> {
  await page.evaluate(
    async ({ url, position }) => {
      interface Manifest {
        items: { items: { items: { body: { service: { id: string }[] } }[] }[] }[];
      }
      const scripts = window as unknown as PageScripts;
      const manifest = (await (await fetch(url)).json()) as Manifest;
      const service = manifest.items[0]?.items[0]?.items[0]?.body.service[0];
      if (service === undefined) throw new Error('The manifest contains no image service.');
      scripts.iiifViewer = new scripts.OpenSeadragon({
        element: document.querySelector('#viewport'),
        tileSources: `${service.id}/info.json`,
        crossOriginPolicy: 'Anonymous',
        drawer: 'canvas',
        showNavigationControl: false,
        immediateRender: true,
      });
      await new Promise<void>((resolve, reject) => {
        scripts.iiifViewer.addOnceHandler('open', () => resolve());
        scripts.iiifViewer.addOnceHandler('open-failed', ({ message }) => reject(new Error(message)));
      });
      const { viewport, world } = scripts.iiifViewer;
      const tiled = world.getItemAt(0);
      viewport.zoomTo(tiled.imageToViewportZoom(1), undefined, true);
      viewport.panTo(tiled.imageToViewportCoordinates(position.x, position.y), true);
    },
    { url: manifestUrl, position: field },
  );
  await page.waitForFunction(() =>
    (window as unknown as PageScripts).iiifViewer.world.getItemAt(0).getFullyLoaded(),
  );
}
