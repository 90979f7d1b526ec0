/** Options and result of the export of annotations. */
import type { PixelSize } from '../geometry/measure.ts';
import type { AnnotationFeature } from '../model/feature.ts';

export const exportFormats = ['qupath', 'geojson', 'asap', 'aperio', 'csv'] as const;

export type ExportFormat = (typeof exportFormats)[number];

export interface ExportOptions {
  readonly format: ExportFormat;
  /** Micrometres per pixel, for areas and lengths in micrometres; null when the slide does not state them. */
  readonly pixelSize: PixelSize | null;
  /** Position in the slide, in pixels, that becomes the origin of the file; for programs whose origin is not the corner of the slide. */
  readonly offset?: { readonly x: number; readonly y: number };
}

/** Codes of information that a format cannot store. `details_left_out` means plane, nucleus, metadata, lock or missing core. */
export const exportWarningCodes = [
  'holes_as_outlines',
  'lines_left_out',
  'measurements_left_out',
  'ellipses_as_polygons',
  'hierarchy_flattened',
  'descriptions_left_out',
  'details_left_out',
] as const;

export type ExportWarningCode = (typeof exportWarningCodes)[number];

export interface ExportResult {
  /** The file in pieces, to be written one after the other. */
  readonly chunks: Iterable<string>;
  readonly mediaType: string;
  /** File name extension without a dot. */
  readonly extension: string;
  /** `count` is the number of annotations that lose something. */
  readonly warnings: readonly { readonly code: ExportWarningCode; readonly count: number }[];
}

export type Features = readonly AnnotationFeature[];
