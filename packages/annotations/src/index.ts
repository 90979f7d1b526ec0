/** Annotations of slides: geometry, validation, and import and export of other programs' files. Runs in Node and in browsers. */
export { chooseClassColor } from './formats/class-color.ts';
export { cleanLine, cleanText } from './formats/clean-text.ts';
export { exportAnnotations } from './formats/export-annotations.ts';
export {
  type ExportFormat,
  type ExportOptions,
  type ExportResult,
  type ExportWarningCode,
  exportFormats,
  exportWarningCodes,
} from './formats/export-types.ts';
export { importAnnotations } from './formats/import-annotations.ts';
export { importLimits } from './formats/import-limits.ts';
export {
  type ImportCounts,
  type ImportErrorCode,
  type ImportFormat,
  type ImportOptions,
  type ImportResult,
  type ImportWarning,
  type ImportWarningCode,
  importErrorCodes,
  importFormats,
  importWarningCodes,
  type Rejection,
  type RejectionCode,
} from './formats/import-types.ts';
export { quoteNonFiniteNumbers } from './formats/scan-json.ts';
export { intersectAreas, repairArea, subtractAreas, unionAreas } from './geometry/booleans.ts';
export { createStroke } from './geometry/brush.ts';
export { fillHoles, separateParts, splitArea } from './geometry/edit.ts';
export { createEllipse, expandEllipse } from './geometry/ellipse.ts';
export {
  areaOf,
  boundsOf,
  centroidOf,
  containsPosition,
  type GeometryMeasures,
  lengthOf,
  measureGeometry,
  type PixelSize,
} from './geometry/measure.ts';
export { type Bounds, boundsTouch, orientRing, signedArea } from './geometry/ring.ts';
export {
  findSelfIntersections,
  isSelfIntersecting,
  type SelfIntersections,
} from './geometry/self-intersections.ts';
export { simplifyGeometry } from './geometry/simplify.ts';
export { type ClassificationJson, encodeFeature, type FeatureJson } from './model/encode-feature.ts';
export {
  type AnnotationFeature,
  type AnnotationProperties,
  type Classification,
  type Color,
  countFeatureVertices,
  type Extent,
  type ObjectType,
  objectTypes,
} from './model/feature.ts';
export { type FeatureErrorCode, type FeatureProblem, featureErrorCodes } from './model/feature-error.ts';
export {
  type AreaGeometry,
  countVertices,
  defaultPlane,
  type Geometry,
  type GeometryType,
  geometryTypes,
  isArea,
  type LineStringGeometry,
  type MultiLineStringGeometry,
  type MultiPointGeometry,
  type MultiPolygonGeometry,
  type Plane,
  type PointGeometry,
  type PolygonGeometry,
  type PolygonRings,
  type Position,
  pathsOf,
  polygonsOf,
  type Ring,
} from './model/geometry.ts';
export { annotationLimits } from './model/limits.ts';
export { decodeMeasurement, encodeMeasurement } from './model/measurement-json.ts';
export { type ParsedFeature, type ParseOptions, parseFeature } from './model/parse-feature.ts';
export { createUuid, isUuid } from './model/uuid.ts';
