/** Rendering of views: rectangles of a slide, scaled, mirrored and rotated as a client of the IIIF Image API requests them. */
import { encodeJpeg } from '../decode/encode-jpeg.ts';
import { loadSharp } from '../decode/load-sharp.ts';
import { orientRaster } from '../decode/orient-raster.ts';
import type { Raster } from '../decode/raster.ts';
import { describeDeepZoom, type Region, sizeOfLevel } from '../deep-zoom/deep-zoom.ts';
import { type Orientation, type Slide, SlideError } from '../model/slide.ts';
import { BoxAverager } from './box-averager.ts';
import { renderPixels } from './render-pixels.ts';

export interface View {
  /** Rectangle in pixels at full resolution: whole numbers, inside the slide. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
  /** Output size in pixels before the rotation; at most the size of the rectangle. */
  readonly toWidth: number;
  readonly toHeight: number;
  /** Whether the output is mirrored left to right before the rotation. */
  readonly isMirrored: boolean;
  /** Rotation in degrees clockwise. */
  readonly rotation: 0 | 90 | 180 | 270;
  readonly isGrey: boolean;
  readonly format: 'jpg' | 'png';
  /** Width and height to which the finished output is extended at the right and at the bottom with the slide's background. */
  readonly padTo?: readonly [width: number, height: number];
}

/** Maximum pixels of the output of a view. */
export const maxViewPixels = 2 ** 22;
/** Maximum width and height of the output of a view in pixels: the largest side of a JPEG that libjpeg writes (JPEG_MAX_DIMENSION). */
export const maxViewSide = 65_500;
/** Whether a view of this size in pixels is within `maxViewPixels` and `maxViewSide`. */
export function isWithinViewLimits(width: number, height: number): boolean {
  return width * height <= maxViewPixels && width <= maxViewSide && height <= maxViewSide;
}
/** Maximum pixels that are decoded for a view: enough for a source twice as wide and twice as high as the largest output. */
const MAX_SOURCE_PIXELS = 4 * maxViewPixels;

/**
 * Renders a view of a slide.
 *
 * @returns a complete JPEG or PNG file
 * @throws SlideError LIMIT_EXCEEDED for a view above `maxViewPixels` or `maxViewSide`; errors of reading and decoding
 */
export async function renderView(slide: Slide, view: View, signal?: AbortSignal): Promise<Uint8Array> {
  const { toWidth, toHeight } = view;
  if (!isWithinViewLimits(toWidth, toHeight)) {
    throw new SlideError(
      'LIMIT_EXCEEDED',
      `A view of ${toWidth} × ${toHeight} pixels is too large (maximum ${maxViewPixels} pixels, ${maxViewSide} per side)`,
    );
  }
  const oriented = orientRaster(await scaledPixels(slide, view, signal), orientationOf(view));
  const raster = padRaster(view.isGrey ? greyOf(oriented) : oriented, slide.background, view.padTo);
  if (view.format === 'jpg') return encodeJpeg(raster);
  const sharp = await loadSharp();
  const { width, height, rgb } = raster;
  return sharp(rgb, { raw: { width, height, channels: 3 } })
    .png({ compressionLevel: 4 }) // of 0 (fastest) to 9 (smallest)
    .toBuffer();
}

/** Returns the pixels of the view, scaled to its output size, before rotation. */
async function scaledPixels(slide: Slide, view: View, signal?: AbortSignal): Promise<Raster> {
  const { region, downsample } = sourceOf(slide, view);
  const source = await renderPixels(slide, region, signal);
  // Size of the view in pixels of the region, not rounded.
  const [unroundedWidth, unroundedHeight] = [view.width / downsample, view.height / downsample];
  // If the aspect ratio of the output differs much from the view's, the output may be larger than the source along one
  // axis. `stretchToView` then stretches the pixels.
  const width = Math.min(view.toWidth, Math.max(1, Math.floor(unroundedWidth)));
  const height = Math.min(view.toHeight, Math.max(1, Math.floor(unroundedHeight)));
  const [scaleX, scaleY] = [Math.min(1, width / unroundedWidth), Math.min(1, height / unroundedHeight)];
  // Position of the region relative to the view, in pixels of the region; at most 0.
  const [left, top] = [region.x - view.x / downsample, region.y - view.y / downsample];
  const averager = new BoxAverager(width, height);
  averager.add(source, left * scaleX, top * scaleY, scaleX, scaleY);
  return stretchToView(averager.finish(slide.background), view);
}

/** Extends the raster to `size` at the right and at the bottom; returns it unchanged when `size` is undefined. */
function padRaster(raster: Raster, background: Slide['background'], size: View['padTo']): Raster {
  if (size === undefined) return raster;
  const [width, height] = size;
  const { r, g, b } = background;
  const rgb = Buffer.alloc(width * height * 3, Uint8Array.of(r, g, b));
  for (let y = 0; y < raster.height; y++) {
    rgb.set(raster.rgb.subarray(y * raster.width * 3, (y + 1) * raster.width * 3), y * width * 3);
  }
  return { width, height, rgb };
}

/** Stretches the raster to the output size by repeating pixels; returns it unchanged when it has that size. */
function stretchToView(raster: Raster, { toWidth, toHeight }: View): Raster {
  if (raster.width === toWidth && raster.height === toHeight) return raster;
  const rgb = new Uint8Array(toWidth * toHeight * 3);
  for (let y = 0, target = 0; y < toHeight; y++) {
    const rowStart = Math.floor((y * raster.height) / toHeight) * raster.width;
    for (let x = 0; x < toWidth; x++, target += 3) {
      const source = (rowStart + Math.floor((x * raster.width) / toWidth)) * 3;
      rgb[target] = raster.rgb[source] as number;
      rgb[target + 1] = raster.rgb[source + 1] as number;
      rgb[target + 2] = raster.rgb[source + 2] as number;
    }
  }
  return { width: toWidth, height: toHeight, rgb };
}

/**
 * Returns the region that is scaled to the view. It lies in the smallest Deep Zoom level that is at least as large as the output.
 * If the region would have more than `MAX_SOURCE_PIXELS` there, it lies in the largest level that keeps it within this limit.
 * `downsample` is the number of full-resolution pixels per pixel of the region.
 */
function sourceOf(slide: Slide, view: View): { readonly region: Region; readonly downsample: number } {
  const descriptor = describeDeepZoom(slide);
  const reduction = Math.min(view.width / view.toWidth, view.height / view.toHeight);
  for (let dziLevel = descriptor.maxLevel - Math.floor(Math.log2(reduction)); ; dziLevel--) {
    const downsample = 2 ** (descriptor.maxLevel - dziLevel);
    const size = sizeOfLevel(descriptor, dziLevel);
    const [x, y] = [Math.floor(view.x / downsample), Math.floor(view.y / downsample)];
    const right = Math.min(size.width, Math.ceil((view.x + view.width) / downsample));
    const bottom = Math.min(size.height, Math.ceil((view.y + view.height) / downsample));
    const region = { dziLevel, x, y, width: right - x, height: bottom - y };
    if (region.width * region.height <= MAX_SOURCE_PIXELS || dziLevel === 0) return { region, downsample };
  }
}

/** TIFF orientations by degrees of clockwise rotation: without mirroring, and with mirroring before the rotation. */
const rotated = { 0: 1, 90: 6, 180: 3, 270: 8 } as const;
const mirroredAndRotated = { 0: 2, 90: 7, 180: 4, 270: 5 } as const;

function orientationOf({ rotation, isMirrored }: View): Orientation {
  return isMirrored ? mirroredAndRotated[rotation] : rotated[rotation];
}

/** Converts to grey with the luminance of ITU-R BT.601, which JPEG uses. */
function greyOf({ width, height, rgb }: Raster): Raster {
  const grey = new Uint8Array(rgb.length);
  for (let i = 0; i < rgb.length; i += 3) {
    const [red, green, blue] = [rgb[i] as number, rgb[i + 1] as number, rgb[i + 2] as number];
    const luminance = 0.299 * red + 0.587 * green + 0.114 * blue;
    grey.fill(luminance + 0.5, i, i + 3); // The Uint8Array truncates, so + 0.5 rounds.
  }
  return { width, height, rgb: grey };
}
