/**
 * Limits of a TIFF file. The reader rejects a file that exceeds one with LIMIT_EXCEEDED. Real slides stay below all
 * limits. The limits prevent a small hostile file from causing hours of work or using gigabytes of memory.
 */
export const limits = {
  /** Directories of a file, including SubIFDs. */
  directories: 4096,
  /** Nesting depth of SubIFDs. */
  subDirectoryDepth: 4,
  entriesPerDirectory: 4096,
  /** Bytes of one tag's value. */
  valueBytes: 64 * 2 ** 20,
  /** Values of one tag; does not apply to the tables of tile and strip positions. A palette of 256 colours has 768 values. */
  numbersPerTag: 4096,
  /** Width and height of a tile in pixels. */
  tileSide: 8192,
  /** Width and height of an image in pixels. */
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  /**
   * Bytes of all tables of tile and strip positions that are read, per byte of the file. In a valid file, every image has its own
   * tables, and each table is read a few times at most. Only a file whose directories share a table exceeds this limit.
   */
  tableBytesPerFileByte: 4,
  levels: 32,
  /** Areas of a mosaic level. An area is a group of tiles in common columns and rows (mosaic-level.ts). */
  areas: 256,
  /** Columns plus rows of all areas of a mosaic level together. */
  areaColumnsAndRows: 2 ** 18,
  stripsPerImage: 2 ** 22,
  samplesPerPixel: 16,
  iccProfileBytes: 16 * 2 ** 20,
  /** Bytes of one tile or strip in the file. */
  tileBytes: 64 * 2 ** 20,
  /** Pixels of one tile or strip that must be decoded as a whole. */
  blockPixels: 2 ** 26,
} as const;
