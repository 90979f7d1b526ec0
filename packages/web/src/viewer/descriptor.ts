/** Loads and parses Deep Zoom descriptors (.dzi): the size of a slide and its division into levels and tiles. */
import { type ColourProfile, profileOf } from './colours/colour-table.ts';
import { type FetchPixels, loadPixels, PixelError, type PixelRequest } from './pixels.ts';

/** The content of a descriptor. */
export interface DeepZoomDescriptor {
  /** Size in pixels at full resolution. */
  readonly width: number;
  readonly height: number;
  /** Width and height of a tile in pixels, without overlap. */
  readonly tileSize: number;
  /** Pixels that neighbouring tiles share on each side. */
  readonly overlap: number;
  /** File extension of the tiles, e.g. `jpeg`. */
  readonly format: string;
  /** The colour profile in the slide's file; null when there is none. */
  readonly profile: ColourProfile | null;
}

/**
 * Parses a descriptor; returns null when it is invalid.
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
    profile: profileOf(image),
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

/** Returns the number in an attribute; NaN when the attribute is missing or not a whole number. */
function numberIn(element: Element | undefined, attribute: string): number {
  const text = element?.getAttribute(attribute) ?? '';
  return /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

/** Returns the Deep Zoom level of full resolution; level 0 is one pixel. */
export function maxLevelOf({ width, height }: DeepZoomDescriptor): number {
  return Math.ceil(Math.log2(Math.max(width, height)));
}

/**
 * Returns the finest level that fits into a single tile. The viewer does not request coarser levels.
 *
 * @param tileSize width and height of a tile in pixels
 * @param maxLevel level of full resolution, as `maxLevelOf` returns it
 */
export function minLevelOf(tileSize: number, maxLevel: number): number {
  return Math.min(maxLevel, Math.floor(Math.log2(tileSize)));
}

/** Loads and parses a descriptor. @throws PixelError; after an abort, the reason of the abort */
export async function loadDescriptor(
  fetchPixels: FetchPixels,
  url: string,
  request: PixelRequest,
): Promise<DeepZoomDescriptor> {
  const body = await loadPixels(fetchPixels, url, { priority: 'high', ...request });
  const descriptor = parseDescriptor(await body.text());
  if (descriptor === null) throw new PixelError({ kind: 'unreadable' });
  return descriptor;
}
