/** The Deep Zoom descriptor (.dzi): how large a slide is, and how it is cut into tiles. */
import { type FetchPixels, loadPixels, PixelError, type PixelRequest } from './pixels.ts';

export interface DeepZoomDescriptor {
  /** Pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Pixels a side, without overlap. */
  readonly tileSize: number;
  /** Pixels that neighbouring tiles share on each side. */
  readonly overlap: number;
  /** File ending of the tiles, e.g. `jpeg`. */
  readonly format: string;
}

/**
 * Null when the text is no usable descriptor.
 *
 * Source: schemas.microsoft.com/deepzoom/2008 (and 2009), element Image.
 */
export function parseDescriptor(xml: string): DeepZoomDescriptor | null {
  const image = new DOMParser().parseFromString(xml, 'application/xml').documentElement;
  const size = image.getElementsByTagNameNS('*', 'Size')[0];
  const format = image.getAttribute('Format') ?? '';
  const descriptor = {
    width: numberIn(size, 'Width'),
    height: numberIn(size, 'Height'),
    tileSize: numberIn(image, 'TileSize'),
    overlap: numberIn(image, 'Overlap'),
    format,
  };
  const isUsable =
    image.localName === 'Image' &&
    descriptor.width > 0 &&
    descriptor.height > 0 &&
    descriptor.tileSize > 0 &&
    descriptor.overlap >= 0 &&
    /^[a-z0-9]+$/i.test(format);
  return isUsable ? descriptor : null;
}

/** NaN when the attribute is missing or no whole number. */
function numberIn(element: Element | undefined, attribute: string): number {
  const text = element?.getAttribute(attribute) ?? '';
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** The Deep Zoom level of full resolution; level 0 is one pixel. */
export function maxLevelOf({ width, height }: DeepZoomDescriptor): number {
  return Math.ceil(Math.log2(Math.max(width, height)));
}

/** The largest level that is a single tile. Nothing below it is worth a request of its own. */
export function minLevelOf({ tileSize }: DeepZoomDescriptor, maxLevel: number): number {
  return Math.min(maxLevel, Math.floor(Math.log2(tileSize)));
}

/** @throws PixelError; the abort's reason */
export async function loadDescriptor(
  fetchPixels: FetchPixels,
  address: string,
  request: PixelRequest,
): Promise<DeepZoomDescriptor> {
  const answer = await loadPixels(fetchPixels, address, { priority: 'high', ...request });
  const descriptor = parseDescriptor(await answer.text());
  if (descriptor === null) throw new PixelError({ kind: 'unreadable' });
  return descriptor;
}
