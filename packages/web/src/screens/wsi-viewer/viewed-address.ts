/** Reads and writes the query parameters of the viewer's URL: one slide or two compared slides, with field, result layers and colours. */
import type { Half } from '../../viewer/link-views.ts';
import { formatField, parseField, type SlideField } from '../../viewer/view-address.ts';

interface ViewedImage {
  readonly imageId: string;
  /** Null shows the whole slide. */
  readonly field: SlideField | null;
  /** The slide's result layers as `formatArrangement` writes them; null when the URL does not contain them. */
  readonly results: string | null;
}

/** Colours that are corrected with the colour profile of the slide, or colours as scanned. */
export type ColourChoice = 'corrected' | 'scanned';

/** The slide in each half of the viewer; null for a half without a slide. */
export interface ViewedImages extends Readonly<Record<Half, ViewedImage | null>> {
  /** Null when the URL does not contain the choice. */
  readonly colours: ColourChoice | null;
}

const imageParameters: Readonly<Record<Half, string>> = { first: 'image', second: 'beside' };
const resultParameters: Readonly<Record<Half, string>> = { first: 'results', second: 'b-results' };
const fieldPrefixes: Readonly<Record<Half, string>> = { first: '', second: 'b' };
/** Checks only the characters and the length of the result layers, which the viewer parses later. */
const resultsPattern = /^[0-9a-z*._+-]{1,4000}$/;
export const halves: readonly Half[] = ['first', 'second'];

export function parseViewed(address: URLSearchParams): ViewedImages {
  const imageInHalf = (half: Half) => {
    const imageId = address.get(imageParameters[half]);
    if (imageId === null) return null;
    const results = address.get(resultParameters[half]);
    return {
      imageId,
      field: parseField(address, fieldPrefixes[half]),
      results: results !== null && resultsPattern.test(results) ? results : null,
    };
  };
  const colours = address.get('colours');
  return {
    first: imageInHalf('first'),
    second: imageInHalf('second'),
    colours: colours === 'corrected' || colours === 'scanned' ? colours : null,
  };
}

export function formatViewed(viewed: ViewedImages): URLSearchParams {
  const address = new URLSearchParams();
  for (const half of halves) {
    const image = viewed[half];
    if (image === null) continue;
    address.set(imageParameters[half], image.imageId);
    const field = image.field === null ? {} : formatField(image.field, fieldPrefixes[half]);
    for (const [name, value] of Object.entries(field)) address.set(name, value);
    if (image.results !== null) address.set(resultParameters[half], image.results);
  }
  if (viewed.colours !== null && viewed.first !== null) address.set('colours', viewed.colours);
  return address;
}
