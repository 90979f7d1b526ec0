/** Limits of files, checked before a parser spends memory on them. */
export const importLimits = {
  /** After decompression. */
  bytes: 64 * 2 ** 20,
  /** Nested arrays and objects; a child in the hierarchy of QuPath takes three. */
  jsonDepth: 256,
  /** A position is an array, so this bounds the positions. */
  jsonArrays: 6_000_000,
  jsonObjects: 2_000_000,
  /** Objects at most three levels deep: features, in an array also their geometry, nucleus and properties. */
  jsonOuterObjects: 200_000,
  jsonCommas: 16_000_000,
  xmlDepth: 32,
  xmlAttributes: 64,
  /** Rejections that are reported one by one. */
  rejections: 100,
} as const;
