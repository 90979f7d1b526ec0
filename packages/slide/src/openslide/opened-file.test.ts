/** Tests the order of reads and closes with a library whose reads end when the test says so. */
import { describe, expect, it } from 'vitest';
import type { OpenSlideLibrary, OpenSlidePointer } from './library.ts';
import { openInLibrary } from './opened-file.ts';

describe('openInLibrary (opens a slide in the library OpenSlide)', () => {
  it('gives a read a slide handle that is still open, even when another read of the slide fails at the same time', async () => {
    const failed = new Set<OpenSlidePointer>();
    const closed = new Set<OpenSlidePointer>();
    let handles = 1n;
    const library: Pick<OpenSlideLibrary, 'open' | 'close' | 'errorOf'> = {
      open: async () => handles++,
      errorOf: (slide) => (failed.has(slide) ? 'damaged' : null),
      close: async (slide) => {
        closed.add(slide);
      },
    };
    const file = await openInLibrary(library as OpenSlideLibrary, 'slide.mrxs');
    const hasStarted = Promise.withResolvers<void>();
    const fails = Promise.withResolvers<void>();
    const failingRead = file?.use(async (slide) => {
      hasStarted.resolve();
      await fails.promise;
      if (failed.size === 0) failed.add(slide); // the read is then repeated with another handle, and succeeds
    });
    await hasStarted.promise;
    fails.resolve();
    const wasClosed: boolean[] = []; // for each slide that the second read receives
    await file?.use((slide) => {
      wasClosed.push(closed.has(slide));
    });
    await failingRead;
    expect(wasClosed).toEqual([false]);
    expect([...closed]).toEqual(expect.arrayContaining([...failed]));
  });
});
