/** Compares one real slide of each format, read from object storage, with the same slide read from a local folder. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createObjectReader, createObjectStore, RenderPool, type SlideLocation } from '../index.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { goodSlides } from './good-slides.ts';

const slides = process.env.TEST_SLIDES ?? '';
const skipReason = slides === '' ? 'TEST_SLIDES names no folder of real slides' : withoutObjectStore;
/** The first file of each outcome, which is a format in lower case or an error code in upper case. */
const fileByOutcome = new Map(goodSlides.toReversed().map(([file, outcome]) => [outcome, file]));
const fileByFormat = [...fileByOutcome].filter(([outcome]) => outcome === outcome.toLowerCase());

let pools: { readonly folder: RenderPool; readonly store: RenderPool };

describe.skipIf(skipReason !== null)(
  `RenderPool (opens and renders slides) with a slide in object storage${skipReason === null ? '' : ` (skipped: ${skipReason})`}`,
  () => {
    beforeAll(async () => {
      const store = createObjectStore(await makeBucket('slides/'));
      const objects = createObjectReader({ store, maxMemoryBytes: 2 ** 26, diskCache: null });
      const options = { processes: 1, queueLimit: 16, timeoutMs: 60_000, compiledFolder: compiledCodeFolder };
      pools = { folder: new RenderPool(options), store: new RenderPool({ ...options, objects }) };
      await Promise.all(
        fileByFormat.map(async ([, file]) => {
          const companions = await filesIn(dirname(file), `_${basename(file, '.vsi')}_`);
          for (const key of [file, ...companions]) await store.put(key, join(slides, key));
        }),
      );
    });
    afterAll(() => Promise.all([pools?.folder.close(), pools?.store.close()]));

    it.each(fileByFormat)(
      'returns the same metadata, thumbnail and tiles as from a local folder for the format %s (file %s)',
      async (_, file) => {
        const [fromStore, fromFolder] = await Promise.all([
          readSlide(pools.store, { path: file, isObject: true }),
          readSlide(pools.folder, { path: join(slides, file) }),
        ]);
        expect(fromStore).toEqual(fromFolder);
      },
    );
  },
);

/** Returns metadata, thumbnail, and the first tile of the two largest Deep Zoom levels. */
async function readSlide(pool: RenderPool, location: SlideLocation) {
  const { fingerprint: _, ...summary } = await pool.inspect(location);
  const maxLevel = Math.ceil(Math.log2(Math.max(summary.width, summary.height)));
  const pictures = [await pool.thumbnail(location, 256)];
  for (const dziLevel of [maxLevel, maxLevel - 1]) {
    pictures.push(await pool.tile(location, { dziLevel, column: 0, row: 0 }));
  }
  return { summary, pictures: pictures.map((jpeg) => Buffer.from(jpeg).toString('base64')) };
}

/** Returns the paths, relative to TEST_SLIDES, of all files in a folder; empty if the folder does not exist. */
async function filesIn(folder: string, folderName: string): Promise<readonly string[]> {
  const path = join(slides, folder, folderName);
  if (!existsSync(path)) return [];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(slides, join(parentPath, name)));
}
