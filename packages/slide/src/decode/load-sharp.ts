import { readOnce } from '../source/read-once.ts';

/** The libvips decoders that slides need; each class includes its variants for files and memory. */
const LOADERS = ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'];

/**
 * Loads sharp, the Node binding of libvips, when an image needs it; a process without it uses 20 MB less memory.
 *
 * libvips detects the format from the bytes and has some thirty decoders (SVG, PDF, FITS, …). All that slides
 * do not need are blocked.
 */
export const loadSharp = readOnce(async () => {
  const { default: sharp } = await import('sharp');
  sharp.block({ operation: ['VipsForeignLoad'] });
  sharp.unblock({ operation: LOADERS });
  // Several processes provide the parallelism. A cache would waste memory, because each picture is decoded
  // once.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
});
