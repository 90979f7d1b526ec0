/** Reasons why a feature is rejected. The API and the import dialog turn a code and its parameters into a message. */
export const featureErrorCodes = [
  'not_an_object',
  'missing',
  'wrong_type',
  'unknown_value',
  'id_not_uuid',
  'parent_is_self',
  'geometry_type',
  'not_a_position',
  'not_finite',
  'outside_extent',
  'too_few_positions',
  'ring_not_closed',
  'ring_too_short',
  'too_many_vertices',
  'too_many_parts',
  'ellipse_not_polygon',
  'not_a_color',
  'text_too_long',
  'text_characters',
  'too_many_entries',
  'out_of_range',
] as const;

export type FeatureErrorCode = (typeof featureErrorCodes)[number];

export interface FeatureProblem {
  readonly code: FeatureErrorCode;
  /** The member with the problem, such as `geometry.coordinates[0][3]`; empty for the feature itself. */
  readonly path: string;
  /** Limits and expected values that the error message states. */
  readonly params: Readonly<Record<string, string | number>>;
}

/** Thrown inside the parsers; `parseFeature` catches it and returns a `FeatureProblem`. */
export class FeatureError extends Error implements FeatureProblem {
  readonly code: FeatureErrorCode;
  readonly path: string;
  readonly params: Readonly<Record<string, string | number>>;

  constructor(code: FeatureErrorCode, path: string, params: Readonly<Record<string, string | number>> = {}) {
    super(`${code} at ${path || 'feature'}`);
    this.name = 'FeatureError';
    this.code = code;
    this.path = path;
    this.params = params;
  }
}
