/** Which slides the page's address opens, and what it shows of them: one, or two to compare. */
import type { Half } from '../../viewer/link-views.ts';
import { formatField, parseField, type SlideField } from '../../viewer/view-address.ts';

interface ViewedImage {
  readonly imageId: string;
  /** Null shows the whole slide. */
  readonly field: SlideField | null;
}

/** Null where nothing is opened. */
export type ViewedImages = Readonly<Record<Half, ViewedImage | null>>;

const imageParameters: Readonly<Record<Half, string>> = { first: 'image', second: 'beside' };
const fieldPrefixes: Readonly<Record<Half, string>> = { first: '', second: 'b' };
export const halves: readonly Half[] = ['first', 'second'];

export function parseViewed(address: URLSearchParams): ViewedImages {
  const inHalf = (half: Half) => {
    const imageId = address.get(imageParameters[half]);
    return imageId === null ? null : { imageId, field: parseField(address, fieldPrefixes[half]) };
  };
  return { first: inHalf('first'), second: inHalf('second') };
}

export function formatViewed(viewed: ViewedImages): URLSearchParams {
  const address = new URLSearchParams();
  for (const half of halves) {
    const image = viewed[half];
    if (image === null) continue;
    address.set(imageParameters[half], image.imageId);
    const field = image.field === null ? {} : formatField(image.field, fieldPrefixes[half]);
    for (const [name, value] of Object.entries(field)) address.set(name, value);
  }
  return address;
}
