/**
 * Limits of a TIFF file. A file that exceeds one is rejected with LIMIT_EXCEEDED: real slides stay far below, and a
 * hostile file must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Directories of a file, including SubIFDs. */
  directories: 4096,
  /** Nesting depth of SubIFDs. */
  subDirectoryDepth: 4,
  entriesPerDirectory: 4096,
  /** Bytes of one tag's value. */
  valueBytes: 64 * 2 ** 20,
  /** Values of a tag that is not a table; SubIFDs has the most in practice. */
  numbersPerTag: 4096,
  /** Pixels. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  levels: 32,
  /** Separate areas of a level, and their columns and rows together. */
  areas: 256,
  areaLines: 2 ** 18,
  stripsPerImage: 2 ** 22,
  samplesPerPixel: 16,
  iccProfileBytes: 16 * 2 ** 20,
  /** Bytes of one stored tile or strip. */
  tileBytes: 64 * 2 ** 20,
  /** Pixels of one tile or strip that must be decoded as a whole. */
  blockPixels: 2 ** 26,
} as const;
