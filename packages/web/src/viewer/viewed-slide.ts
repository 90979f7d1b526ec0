import type { SlideScale } from './scale.ts';
import type { ShownPlane } from './shown-plane.ts';
import type { TileAddress } from './slide-tiles.ts';

/** A slide for the viewer. Its addresses contain no image session: `fetchPixels` adds it. */
export interface ViewedSlide {
  /** Identifies the slide. */
  readonly descriptorAddress: string;
  readonly tileAddressOf: (tile: TileAddress, colour?: 'srgb') => string;
  readonly colourTableAddress: string;
  readonly scale: SlideScale;
  /** Absent for a file of one focal plane and one time. */
  readonly shownPlane?: ShownPlane;
  /** Shown on screenshots. */
  readonly name: string;
  /** Whose annotations are shown; null: none are. */
  readonly annotated: AnnotatedSlide | null;
}

/** What the annotations of a slide depend on. */
export interface AnnotatedSlide {
  readonly imageId: string;
  /** Null: the classes are the default ones. */
  readonly dataset: string | null;
}
