/** The installed native libraries, for `npm run doctor`. The server loads each library only when a slide needs it. */
import { kernelLandlockVersion } from '../confinement/kernel-protection.ts';
import { loadSharp } from '../decode/load-sharp.ts';
import { loadTurboJpeg } from '../decode/turbo-jpeg.ts';
import { loadOpenSlide } from '../openslide/library.ts';

export interface InstalledLibraries {
  /** Version of libvips, the C library inside sharp; null when it cannot be loaded: then no image can be decoded. */
  readonly libvips: string | null;
  /** Whether libjpeg-turbo is installed; it decodes JPEG tiles faster than sharp does. */
  readonly turboJpeg: boolean;
  /** Version of OpenSlide; null when it is not installed. */
  readonly openSlide: string | null;
  /** Version of Landlock, the Linux feature that confines render processes to the slide folders; 0 if absent. */
  readonly landlock: number;
}

/** Loads the libraries into this process, and returns their versions. */
export async function installedLibraries(): Promise<InstalledLibraries> {
  const [libvips, turboJpeg, openSlide, landlock] = await Promise.all([
    loadSharp().then(
      ({ versions }) => versions.vips,
      () => null,
    ),
    loadTurboJpeg(),
    loadOpenSlide(),
    kernelLandlockVersion(),
  ]);
  return { libvips, turboJpeg: turboJpeg !== null, openSlide: openSlide?.version() ?? null, landlock };
}
