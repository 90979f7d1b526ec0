/** Limits of imported files, checked before or while a file is parsed, so that a hostile file cannot exhaust the memory. */
export const importLimits = {
  /** Size of the file after decompression. */
  bytes: 64 * 2 ** 20,
  /** Nested arrays and objects; each level of the hierarchy of QuPath takes three (feature, properties, children). */
  jsonDepth: 256,
  /** Every position is an array, so this also limits the positions. */
  jsonArrays: 6_000_000,
  jsonObjects: 2_000_000,
  /** Objects inside at most two other objects or arrays. A feature has at most four: itself, geometry, nucleus and properties. */
  jsonOuterObjects: 200_000,
  /** Commas separate values, so this also limits the number of all values. */
  jsonCommas: 16_000_000,
  xmlDepth: 32,
  /** Attributes of one element. */
  xmlAttributes: 64,
  /** Comparisons of holes with the bounding boxes and edges of outlines, to find the outline around each hole. */
  holeComparisons: 100_000_000,
  /** Rejections that the result lists; further ones are only counted. */
  rejections: 100,
} as const;
