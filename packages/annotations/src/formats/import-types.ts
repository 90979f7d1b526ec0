/** Options and result of an import. The API and the import dialog turn the codes of problems into messages. */
import type { AnnotationFeature, Extent, ObjectType } from '../model/feature.ts';
import type { FeatureErrorCode } from '../model/feature-error.ts';

export const importFormats = ['qupath', 'geojson', 'asap', 'aperio', 'dsa'] as const;

/** `qupath` and `geojson` have the same reader. */
export type ImportFormat = (typeof importFormats)[number];

export interface ImportOptions {
  /** 'auto' detects the format from the content. */
  readonly format: ImportFormat | 'auto';
  /** The size of the slide, which limits the coordinates after the offset is added; null when it is unknown. */
  readonly extent: Extent | null;
  /** Pixels added to every coordinate, for files whose origin is not the corner of the slide. */
  readonly offset?: { readonly x: number; readonly y: number };
}

/** Reasons why a whole file is rejected. */
export const importErrorCodes = [
  'too_large',
  'not_text',
  'not_json',
  'not_xml',
  'document_type', // XML with a document type definition; see `read-xml.ts`
  'unknown_format',
  'nested_too_deeply',
  'too_many_values',
  'too_many_vertices',
  'too_many_features',
] as const;

export type ImportErrorCode = (typeof importErrorCodes)[number];

/** Reasons why one feature of a file is rejected. */
export type RejectionCode = FeatureErrorCode | 'duplicate_id' | 'unsupported_element';

export interface Rejection {
  /** Number of the feature in the file, from 1; in JSON each feature comes before its children. */
  readonly feature: number;
  /** Line of the file, from 1; null for JSON. */
  readonly line: number | null;
  readonly code: RejectionCode;
  /** The member with the problem, such as `geometry.coordinates[0][3]`; empty for the feature itself. */
  readonly path: string;
  readonly params: Readonly<Record<string, string | number>>;
}

/** Changes that the reader made, and parts that it left out; the feature itself is imported. */
export const importWarningCodes = [
  'id_replaced',
  'unknown_object_type',
  'class_color_chosen',
  'color_ignored',
  'measurement_ignored',
  'text_cleaned',
  'properties_kept_as_metadata',
  'spline_as_polygon',
  'parent_missing',
] as const;

export type ImportWarningCode = (typeof importWarningCodes)[number];

export interface ImportWarning {
  readonly code: ImportWarningCode;
  /** Number of features with this warning. */
  readonly count: number;
}

export interface ImportCounts {
  readonly features: number;
  readonly vertices: number;
  /** Number of features of each type; a type without features is missing. */
  readonly byType: Readonly<Partial<Record<ObjectType, number>>>;
  /** In the order in which the classes first appear in the file; `names` is empty for features without a class. */
  readonly byClass: readonly { readonly names: readonly string[]; readonly count: number }[];
}

export type ImportResult =
  | {
      readonly ok: true;
      readonly format: ImportFormat;
      readonly features: readonly AnnotationFeature[];
      readonly counts: ImportCounts;
      readonly warnings: readonly ImportWarning[];
      /** The first 100 rejections. */
      readonly rejected: readonly Rejection[];
      /** Number of all rejections, including those that are not listed. */
      readonly rejectedCount: number;
    }
  | {
      readonly ok: false;
      readonly error: {
        readonly code: ImportErrorCode;
        readonly params: Readonly<Record<string, string | number>>;
      };
    };

/** Thrown inside the readers; `importAnnotations` turns it into a result. */
export class ImportError extends Error {
  readonly code: ImportErrorCode;
  readonly params: Readonly<Record<string, string | number>>;

  constructor(code: ImportErrorCode, params: Readonly<Record<string, string | number>> = {}) {
    super(code);
    this.name = 'ImportError';
    this.code = code;
    this.params = params;
  }
}
