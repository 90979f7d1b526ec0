import { readOnce } from '../source/read-once.ts';

/** The libvips decoders that slides need. Each name is the base class of a decoder's variants for files and for memory. */
const NEEDED_DECODERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'];

/**
 * Loads sharp, the Node binding of libvips, on the first call; a process that never calls it needs 20 MB less memory.
 *
 * libvips chooses one of its thirty or so decoders (SVG, PDF, FITS, …) by the bytes of a file. Decoders that no slide
 * needs are blocked.
 */
export const loadSharp = readOnce(async () => {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: NEEDED_DECODERS });
  // One thread per image is enough, because several processes decode at the same time. A cache would waste memory,
  // because each image is decoded only once.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
});
