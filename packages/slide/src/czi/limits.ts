/**
 * What a CZI file may ask for. A file that asks for more is refused with LIMIT_EXCEEDED: real slides stay far
 * below, and a hostile one must not turn a few bytes into hours or gigabytes.
 */
export const limits = {
  /** Subblocks that the directory lists: all places, resolutions, channels, focus planes and times together. */
  subblocks: 2 ** 20,
  /** Those of them that are shown. */
  shownSubblocks: 2 ** 18,
  dimensionsPerSubblock: 40,
  /** Bytes of the metadata. */
  xmlBytes: 16 * 2 ** 20,
  attachments: 4096,
  channels: 16,
  levels: 32,
  /** Pixels. */
  imageSide: 2 ** 31 - 1,
  /** A slide of 25 × 75 mm at 0.1 µm has 2^37.5. */
  imagePixels: 2 ** 38,
  /** Bytes of one subblock as it is stored, and decoded. */
  subblockBytes: 2 ** 27,
  /** Rows of tiles, over all subblocks, that a subblock touches: what the index of a level holds. */
  indexEntries: 2 ** 21,
  /** Subblocks that one tile is put together from. */
  subblocksPerTile: 256,
  /** Pixels of a picture beside the slide. */
  associatedPixels: 2 ** 24,
  /** Bytes of the same. */
  associatedBytes: 64 * 2 ** 20,
} as const;
