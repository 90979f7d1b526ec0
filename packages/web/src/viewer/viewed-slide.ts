/** The slide that the viewer shows, as the page describes it. */
import type { SlideScale } from './scale.ts';
import type { ShownPlane } from './shown-plane.ts';
import type { TileCoordinates } from './slide-tiles.ts';

/**
 * The viewer's description of a slide. Its URLs do not contain the image session (the credential for loading pixels), which `fetchPixels`
 * adds.
 */
export interface ViewedSlide {
  /** URL of the Deep Zoom descriptor; it also identifies the slide. */
  readonly descriptorUrl: string;
  /** Returns the URL of a tile. @param colour `srgb` requests colours that the server has corrected; default: as scanned */
  readonly tileUrlOf: (tile: TileCoordinates, colour?: 'srgb') => string;
  /** URL of the table that corrects the scanner's colours; only slides with an ICC profile have one. */
  readonly colourTableUrl: string;
  readonly scale: SlideScale;
  /** The shown focal plane and time point; absent for a file with one of each. */
  readonly shownPlane?: ShownPlane;
  /** File name, which screenshots show. */
  readonly name: string;
  /** The image whose annotations are shown; null when the page shows no annotations. */
  readonly annotatedSlide: AnnotatedSlide | null;
}

/** The image and dataset to which annotations belong, and the format of its file. */
export interface AnnotatedSlide {
  readonly imageId: string;
  /** Dataset with the annotation classes; null for the default classes. */
  readonly dataset: string | null;
  /** Format of the slide file, such as `mirax`; null when it is not known. */
  readonly format: string | null;
}
