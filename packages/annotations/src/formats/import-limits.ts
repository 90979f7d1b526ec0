/** Limits of imported files, checked before or while a file is parsed, so that a hostile file cannot exhaust the memory. */
export const importLimits = {
  /** Size of the file after decompression. */
  bytes: 64 * 2 ** 20,
  /** Nested arrays and objects; a child in the hierarchy of QuPath takes three. */
  jsonDepth: 256,
  /** Every position is an array, so this also limits the positions. */
  jsonArrays: 6_000_000,
  jsonObjects: 2_000_000,
  /** Objects at nesting depth 1 to 3: features, and in a file that is an array of features also their geometry, nucleus and properties. */
  jsonOuterObjects: 200_000,
  jsonCommas: 16_000_000,
  xmlDepth: 32,
  /** Attributes of one element. */
  xmlAttributes: 64,
  /** Rejections that the result lists; more are only counted. */
  rejections: 100,
} as const;
