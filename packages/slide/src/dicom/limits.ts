/**
 * Limits of a DICOM file. Real slides stay below all of them. A file that exceeds one is rejected with LIMIT_EXCEEDED, because a
 * small hostile file must not cost hours of CPU time or gigabytes of memory.
 */
export const limits = {
  /** Data elements visited while a header is read, including nested ones; each frame adds `elementsPerFrame`. */
  elements: 1_000_000,
  /** Elements in one frame's functional groups; PS3.3 C.7.6.16 defines fewer. */
  elementsPerFrame: 64,
  /** Elements of the file meta information, which precedes the data set. */
  metaElements: 4096,
  sequenceDepth: 16,
  /** Items of a sequence that is kept in memory, and fragments of the last frame, which are followed to check an offset table. */
  items: 4096,
  /** Bytes of one value that is kept in memory. */
  valueBytes: 64 * 1024,
  iccProfileBytes: 16 * 2 ** 20,
  frames: 2 ** 26,
  /** Fragments per frame, on average over the file. */
  fragmentsPerFrame: 16,
  /** Pixels of the longer side of a tile, and of the longer side of the whole image. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  levels: 32,
  /** Bytes of one stored frame. */
  frameBytes: 64 * 2 ** 20,
  /** Files of a folder that are examined to find the files of one slide. */
  files: 10_000,
  /** Files with pyramid images (kind VOLUME) of one slide; all are open at the same time. */
  volumes: 1024,
} as const;

/**
 * Minimum bytes of an encapsulated frame: its item header and some content. A file that is too small for the number of
 * frames it claims is rejected before memory is allocated.
 */
export const MIN_FRAME_BYTES = 10;
/** Minimum bytes by which a frame states its position: two coordinates in a sequence item. */
export const MIN_POSITION_BYTES = 48;
