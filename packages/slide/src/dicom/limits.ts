/**
 * What a DICOM file may ask for. A file that asks for more is refused with LIMIT_EXCEEDED: real slides stay far
 * below, and a hostile one must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Data elements that are looked at while a header is read, nested ones included; frames may add to it. */
  elements: 1_000_000,
  /** The same for one frame's functional groups; PS3.3 C.7.6.16 knows fewer. */
  elementsPerFrame: 64,
  /** Sequences within sequences. */
  sequenceDepth: 16,
  /** Items of a sequence that is kept. */
  items: 4096,
  /** Bytes of one value that is kept. */
  valueBytes: 64 * 1024,
  iccProfileBytes: 16 * 2 ** 20,
  frames: 2 ** 26,
  /** Pieces one frame may be cut into, on average of an instance. */
  fragmentsPerFrame: 16,
  /** Pixels. */
  tileSide: 8192,
  imageSide: 2 ** 31 - 1,
  tilesPerLevel: 2 ** 26,
  levels: 32,
  /** Bytes of one stored frame. */
  frameBytes: 64 * 2 ** 20,
  /** Files that are looked at to find those of one slide. */
  files: 10_000,
  /** Files of one slide that hold its picture; they are open together. */
  volumes: 1024,
} as const;

/**
 * An encapsulated frame has the header of its item, and something in it. A number of frames that the file has no
 * room for is a lie, and must not become memory.
 */
export const LEAST_FRAME_BYTES = 10;
/** What the functional groups of a frame take that say where it is: two positions in a sequence's item. */
export const LEAST_POSITION_BYTES = 48;
