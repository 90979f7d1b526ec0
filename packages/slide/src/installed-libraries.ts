/** Which of the libraries are there that are loaded only when a slide needs them. */

import { loadSharp } from './decode/load-sharp.ts';
import { loadTurboJpeg } from './decode/turbo-jpeg.ts';
import { loadOpenSlide } from './openslide/library.ts';

export interface InstalledLibraries {
  /** Version of libvips; null: it cannot be loaded, and nothing can be decoded. */
  readonly sharp: string | null;
  readonly turboJpeg: boolean;
  /** Its version; null: it is not installed. */
  readonly openSlide: string | null;
}

/** Loads them all into this process. */
export async function installedLibraries(): Promise<InstalledLibraries> {
  const [sharp, turboJpeg, openSlide] = await Promise.all([
    loadSharp().then(
      ({ versions }) => versions.vips,
      () => null,
    ),
    loadTurboJpeg(),
    loadOpenSlide(),
  ]);
  return { sharp, turboJpeg: turboJpeg !== null, openSlide: openSlide?.version() ?? null };
}
