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

/** Corrects RGBA pixels of 8 bits in place, interpolating between the eight nearest grid points as the graphics card does. */
export function applyTable(pixels: Uint8ClampedArray, { size, samples }: ColourTable): void {
  const cells = size - 1;
  const lower = Uint8Array.from({ length: 256 }, (_, sample) =>
    Math.min(cells - 1, Math.floor((sample * cells) / 255)),
  );
  const part = Float64Array.from(
    { length: 256 },
    (_, sample) => (sample * cells) / 255 - (lower[sample] ?? 0),
  );
  const [stepGreen, stepBlue] = [3 * size, 3 * size * size];
  for (let place = 0; place < pixels.length; place += 4) {
    const [red = 0, green = 0, blue = 0] = [pixels[place], pixels[place + 1], pixels[place + 2]];
    const corner = 3 * (lower[red] ?? 0) + stepGreen * (lower[green] ?? 0) + stepBlue * (lower[blue] ?? 0);
    const [r = 0, g = 0, b = 0] = [part[red], part[green], part[blue]];
    for (let channel = 0; channel < 3; channel += 1) {
      const at = (offset: number) => samples[corner + channel + offset] ?? 0;
      const along = (offset: number) => at(offset) + (at(offset + 3) - at(offset)) * r;
      const near = along(0) + (along(stepGreen) - along(0)) * g;
      const far = along(stepBlue) + (along(stepBlue + stepGreen) - along(stepBlue)) * g;
      pixels[place + channel] = near + (far - near) * b;
    }
  }
}
