/**
 * What a TIFF file may ask for. A file that asks for more is refused with LIMIT_EXCEEDED: real slides stay
 * far below, and a hostile one must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Directories of a file, SubIFDs included. */
  directories: 4096,
  /** SubIFDs of SubIFDs of … */
  subDirectoryDepth: 4,
  entriesPerDirectory: 4096,
  /** Bytes of one tag's value. */
  valueBytes: 64 * 2 ** 20,
  /** Values of a tag that is no table; SubIFDs is the longest that is met. */
  numbersPerTag: 4096,
  /** Pixels. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  levels: 32,
  /** Parts of a level that lie apart, and their columns and rows together. */
  areas: 256,
  areaLines: 2 ** 18,
  stripsPerPicture: 2 ** 22,
  samplesPerPixel: 16,
  iccProfileBytes: 16 * 2 ** 20,
  /** Bytes of one stored tile, or strip. */
  tileBytes: 64 * 2 ** 20,
  /** Pixels of one tile, or strip, that has to be decoded as a whole. */
  blockPixels: 2 ** 26,
} as const;
