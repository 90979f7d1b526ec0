import { readOnce } from '../source/read-once.ts';

/** sharp, loaded when a picture needs it: a process that decodes nothing is 20 MB smaller without it. */
export const loadSharp = readOnce(async () => {
  const { default: sharp } = await import('sharp');
  // Processes are the parallelism; a cache of what is decoded once would only be memory.
  sharp.concurrency(1);
  sharp.cache(false);
  return sharp;
});
