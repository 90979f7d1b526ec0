/**
 * The query parameters of the viewer's URL. They name one slide or two compared slides by their image ids and, for each slide, its field
 * (visible part) and result layers (computed rasters and objects). The choice of colours applies to both slides. Example with the image
 * ids `a` and `b`: `?image=a&x=10&y=20.5&zoom=0.5&beside=b`.
 */
import type { Half } from '../../viewer/link-views.ts';
import { formatField, parseField, type SlideField } from '../../viewer/view-address.ts';

interface ViewedImage {
  readonly imageId: string;
  /** The visible part of the slide; null for the whole slide. */
  readonly field: SlideField | null;
  /** The slide's result layers as `formatArrangement` writes them; null when the URL does not contain them. */
  readonly results: string | null;
}

/** `corrected`: colours that the colour profile of the slide corrects; `scanned`: colours as in the file. */
export type ColourChoice = 'corrected' | 'scanned';

/** What the URL contains: the slide in each half of the viewer (null for a half without a slide), and the colours. */
export interface ViewedImages extends Readonly<Record<Half, ViewedImage | null>> {
  /** Null when the URL contains no choice of colours. */
  readonly colours: ColourChoice | null;
}

/** Names of the query parameters, or prefixes of the names, for each half. */
const imageParameters: Readonly<Record<Half, string>> = { first: 'image', second: 'beside' };
const resultParameters: Readonly<Record<Half, string>> = { first: 'results', second: 'b-results' };
const fieldPrefixes: Readonly<Record<Half, string>> = { first: '', second: 'b' }; // `x` and `bx`, for example
/** Checks only the characters and the length of a text such as `9f1c2ab3_o60*swipe-50`; `parseArrangement` of the viewer parses it later. */
const resultsPattern = /^[0-9a-z*._+-]{1,4000}$/;
export const halves: readonly Half[] = ['first', 'second'];

/** Parses the query parameters. Empty ids and invalid fields, result layers and colours count as absent. */
export function parseViewed(parameters: URLSearchParams): ViewedImages {
  const imageInHalf = (half: Half) => {
    const imageId = parameters.get(imageParameters[half]);
    if (imageId === null || imageId === '') return null;
    const results = parameters.get(resultParameters[half]);
    return {
      imageId,
      field: parseField(parameters, fieldPrefixes[half]),
      results: results !== null && resultsPattern.test(results) ? results : null,
    };
  };
  const colours = parameters.get('colours');
  return {
    first: imageInHalf('first'),
    second: imageInHalf('second'),
    colours: colours === 'corrected' || colours === 'scanned' ? colours : null,
  };
}

/** Inverse of `parseViewed`. Omits the colours when the first half has no slide. */
export function formatViewed(viewed: ViewedImages): URLSearchParams {
  const parameters = new URLSearchParams();
  for (const half of halves) {
    const image = viewed[half];
    if (image === null) continue;
    parameters.set(imageParameters[half], image.imageId);
    const fieldParameters = image.field === null ? {} : formatField(image.field, fieldPrefixes[half]);
    for (const [name, value] of Object.entries(fieldParameters)) parameters.set(name, value);
    if (image.results !== null) parameters.set(resultParameters[half], image.results);
  }
  if (viewed.colours !== null && viewed.first !== null) parameters.set('colours', viewed.colours);
  return parameters;
}
