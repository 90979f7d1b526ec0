/** Limits of annotations and annotation layers. Lengths are in characters. `docs/annotations.md` gives the reasons. */
export const annotationLimits = {
  /** Annotations of one layer. A larger set is stored as a result layer, the read-only output of a program. */
  layerAnnotations: 50_000,
  /** Positions of all annotations of one layer. */
  layerVertices: 5_000_000,
  /** Positions of one annotation, including its nucleus. */
  vertices: 1_000_000,
  /** Rings, lines of a MultiLineString and polygons of a MultiPolygon in one annotation, including its nucleus. */
  parts: 100_000,
  /** x may be from -10 to 10 times the width of the slide, y from -10 to 10 times its height. */
  extentFactor: 10,
  /** Largest absolute coordinate in pixels when the size of the slide is unknown. */
  coordinate: 1e9,
  nameLength: 1000,
  descriptionLength: 10_000,
  /** Names of one class: its own name and the names of its parent classes. */
  classNames: 10,
  /** Measurements of one annotation. */
  measurements: 1000,
  /** Metadata entries of one annotation. */
  metadata: 200,
  /** Length of a metadata value. */
  metadataLength: 10_000,
  /** Largest index of a channel, a focal plane and a time point. */
  plane: 1_000_000,
} as const;
