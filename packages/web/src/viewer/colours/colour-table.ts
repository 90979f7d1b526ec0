/** The colour profile of a slide, and the table made from it, which corrects the scanner's colours to sRGB. */
import { type FetchPixels, loadPixels, type PixelRequest } from '../pixels.ts';

/** What the descriptor says about the profile in the slide's file. */
export interface ColourProfile {
  /** Empty when the profile has none. */
  readonly name: string;
  readonly bytes: number;
  /** Grid points per axis of the colour table; null when the profile is not used. */
  readonly tableSize: number | null;
}

export interface ColourTable {
  /** Grid points per axis. */
  readonly size: number;
  /** Red, green and blue of each grid point; the index of red varies fastest. */
  readonly samples: Uint8Array;
}

const largestTable = 65;

/** Reads the element of the colour profile that this server adds to the descriptor. Returns null for a slide without a profile. */
export function profileOf(descriptor: Element): ColourProfile | null {
  const element = descriptor.getElementsByTagNameNS('urn:lamina:colour', 'ColourProfile')[0];
  if (element === undefined) return null;
  const nodes = Number(element.getAttribute('TableNodes') ?? Number.NaN);
  const isUsable = Number.isInteger(nodes) && nodes >= 2 && nodes <= largestTable;
  return {
    name: element.getAttribute('Name') ?? '',
    bytes: Number(element.getAttribute('Bytes') ?? 0) || 0,
    tableSize: isUsable ? nodes : null,
  };
}

/** Returns null when the response is not a table of this size. @throws PixelError, or the reason of the signal when the request is aborted */
export async function loadColourTable(
  fetchPixels: FetchPixels,
  address: string,
  size: number,
  request: PixelRequest,
): Promise<ColourTable | null> {
  const answer = await loadPixels(fetchPixels, address, { priority: 'high', ...request });
  const samples = new Uint8Array(await answer.arrayBuffer());
  return samples.length === 3 * size ** 3 ? { size, samples } : null;
}
