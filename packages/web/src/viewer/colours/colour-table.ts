/**
 * Loads the colour table of a slide, with which the viewer corrects the scanner's colours. The table is a grid of sRGB colours that
 * the server computes from the ICC profile in the slide's file.
 */
import { type FetchPixels, loadPixels, type PixelRequest } from '../pixels.ts';

/** The ICC profile of a slide as the slide's Deep Zoom descriptor (an XML document) describes it. */
export interface ColourProfile {
  /** Empty when the profile has no name. */
  readonly name: string;
  /** Size of the profile in bytes. */
  readonly bytes: number;
  /** Grid points per axis of the colour table; null when there is no table that the viewer can use. */
  readonly tableSize: number | null;
}

/** A grid of sRGB colours over the cube of the scanner's colours; colours between grid points are interpolated. */
export interface ColourTable {
  /** Grid points per axis. */
  readonly size: number;
  /** Red, green and blue of each grid point; the index of red varies fastest. */
  readonly samples: Uint8Array;
}

/** Largest number of grid points per axis that the viewer accepts. */
const maxGridPoints = 65;

/** Reads the element `ColourProfile`, which Lamina adds to its descriptors. Returns null for a slide without a profile. */
export function profileOf(descriptor: Element): ColourProfile | null {
  const element = descriptor.getElementsByTagNameNS('urn:lamina:colour', 'ColourProfile')[0];
  if (element === undefined) return null;
  const gridPoints = Number(element.getAttribute('TableNodes') ?? Number.NaN);
  const isUsable = Number.isInteger(gridPoints) && gridPoints >= 2 && gridPoints <= maxGridPoints;
  return {
    name: element.getAttribute('Name') ?? '',
    bytes: Number(element.getAttribute('Bytes') ?? 0) || 0,
    tableSize: isUsable ? gridPoints : null,
  };
}

/**
 * Loads a colour table. Returns null when the number of loaded bytes does not match the size.
 *
 * @param size grid points per axis, as the descriptor states it
 * @throws PixelError, or the reason of the abort
 */
export async function loadColourTable(
  fetchPixels: FetchPixels,
  url: string,
  size: number,
  request: PixelRequest,
): Promise<ColourTable | null> {
  const body = await loadPixels(fetchPixels, url, { priority: 'high', ...request });
  const samples = new Uint8Array(await body.arrayBuffer());
  return samples.length === 3 * size ** 3 ? { size, samples } : null;
}
