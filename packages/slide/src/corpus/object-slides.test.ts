/** One real slide of each format, from an object store and from its folder: the same in every pixel. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createObjectReader, createObjectStore, type SlideLocation, TileMaker } from '../index.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { goodSlides } from './good-slides.ts';

const slides = process.env.TEST_SLIDES ?? '';
const without = slides === '' ? 'TEST_SLIDES names no folder of real slides' : withoutObjectStore;
const formats = new Map(goodSlides.toReversed().map(([file, outcome]) => [outcome, file]));
const chosen = [...formats].filter(([outcome]) => outcome === outcome.toLowerCase());

let makers: { readonly folder: TileMaker; readonly store: TileMaker };

describe.skipIf(without !== null)(
  `a slide in a bucket${without === null ? '' : ` (skipped: ${without})`}`,
  () => {
    beforeAll(async () => {
      const store = createObjectStore(await makeBucket('slides/'));
      const objects = createObjectReader({ store, maxMemoryBytes: 2 ** 26, shelf: null });
      const options = { processes: 1, queueLimit: 16, timeoutMs: 60_000 };
      makers = { folder: new TileMaker(options), store: new TileMaker({ ...options, objects }) };
      await Promise.all(
        chosen.map(async ([, file]) => {
          for (const each of [file, ...(await filesIn(dirname(file), `_${basename(file, '.vsi')}_`))]) {
            await store.put(each, join(slides, each));
          }
        }),
      );
    });
    afterAll(() => Promise.all([makers?.folder.close(), makers?.store.close()]));

    it.each(chosen)('is what it is in a folder: %s, %s', async (_, file) => {
      const [object, fromFolder] = await Promise.all([
        picturesOf(makers.store, { path: file, isObject: true }),
        picturesOf(makers.folder, { path: join(slides, file) }),
      ]);
      expect(object).toEqual(fromFolder);
    });
  },
);

async function picturesOf(maker: TileMaker, location: SlideLocation) {
  const { fingerprint: _, ...summary } = await maker.inspect(location);
  const largest = Math.ceil(Math.log2(Math.max(summary.width, summary.height)));
  const pictures = [await maker.thumbnail(location, 256)];
  for (const dziLevel of [largest, largest - 1]) {
    pictures.push(await maker.tile(location, { dziLevel, column: 0, row: 0 }));
  }
  return { summary, pictures: pictures.map((jpeg) => Buffer.from(jpeg).toString('base64')) };
}

/** The files of a folder that belongs to a slide, by their keys; none where there is no such folder. */
async function filesIn(folder: string, own: string): Promise<readonly string[]> {
  const path = join(slides, folder, own);
  if (!existsSync(path)) return [];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(slides, join(parentPath, name)));
}
