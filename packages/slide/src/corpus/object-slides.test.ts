/** Compares one real slide of each format in object storage with the same slide in a folder. */
import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createObjectReader, createObjectStore, RenderPool, type SlideLocation } from '../index.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { goodSlides } from './good-slides.ts';

const slides = process.env.TEST_SLIDES ?? '';
const without = slides === '' ? 'TEST_SLIDES names no folder of real slides' : withoutObjectStore;
const formats = new Map(goodSlides.toReversed().map(([file, outcome]) => [outcome, file]));
const chosenFiles = [...formats].filter(([outcome]) => outcome === outcome.toLowerCase());

let pools: { readonly folder: RenderPool; readonly store: RenderPool };

describe.skipIf(without !== null)(
  `a slide in object storage${without === null ? '' : ` (skipped: ${without})`}`,
  () => {
    beforeAll(async () => {
      const store = createObjectStore(await makeBucket('slides/'));
      const objects = createObjectReader({ store, maxMemoryBytes: 2 ** 26, diskCache: null });
      const options = { processes: 1, queueLimit: 16, timeoutMs: 60_000, compiledFolder: compiledCodeFolder };
      pools = { folder: new RenderPool(options), store: new RenderPool({ ...options, objects }) };
      await Promise.all(
        chosenFiles.map(async ([, file]) => {
          for (const each of [file, ...(await filesIn(dirname(file), `_${basename(file, '.vsi')}_`))]) {
            await store.put(each, join(slides, each));
          }
        }),
      );
    });
    afterAll(() => Promise.all([pools?.folder.close(), pools?.store.close()]));

    it.each(chosenFiles)('equals the same slide in a local folder: %s, %s', async (_, file) => {
      const [object, fromFolder] = await Promise.all([
        picturesOf(pools.store, { path: file, isObject: true }),
        picturesOf(pools.folder, { path: join(slides, file) }),
      ]);
      expect(object).toEqual(fromFolder);
    });
  },
);

async function picturesOf(pool: RenderPool, location: SlideLocation) {
  const { fingerprint: _, ...summary } = await pool.inspect(location);
  const largest = Math.ceil(Math.log2(Math.max(summary.width, summary.height)));
  const pictures = [await pool.thumbnail(location, 256)];
  for (const dziLevel of [largest, largest - 1]) {
    pictures.push(await pool.tile(location, { dziLevel, column: 0, row: 0 }));
  }
  return { summary, pictures: pictures.map((jpeg) => Buffer.from(jpeg).toString('base64')) };
}

/** Keys of the files in a folder that belongs to a slide; empty without such a folder. */
async function filesIn(folder: string, folderName: string): Promise<readonly string[]> {
  const path = join(slides, folder, folderName);
  if (!existsSync(path)) return [];
  const entries = await readdir(path, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => relative(slides, join(parentPath, name)));
}
