/** Limits of annotations and layers. `docs/annotations.md` gives the reasons. */
export const annotationLimits = {
  /** Annotations of a layer; a larger set is a result layer. */
  layerAnnotations: 50_000,
  /** Positions of all annotations of a layer. */
  layerVertices: 5_000_000,
  /** Positions of one annotation, its nucleus included. */
  vertices: 1_000_000,
  /** Rings, lines and parts of one geometry. */
  parts: 100_000,
  /** Factor of the slide's width and height that a coordinate may reach on either side of 0. */
  extentFactor: 10,
  /** Limit of a coordinate when the extent is unknown. */
  coordinate: 1e9,
  nameLength: 1000,
  descriptionLength: 10_000,
  classNames: 10,
  measurements: 1000,
  metadata: 200,
  metadataLength: 10_000,
  /** Largest channel, focal plane and time point. */
  plane: 1_000_000,
} as const;
