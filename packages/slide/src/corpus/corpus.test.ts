/**
 * Opens every file of the test collections, valid and broken, and compares the format or the error code.
 * The files are not part of the project: TEST_SLIDES names the folder of valid ones, `bad-slides` lies beside
 * it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { RenderPool, SlideError } from '../index.ts';
import { compiledCodeFolder } from '../testing/compiled-code.ts';
import { badSlides } from './bad-slides.ts';
import { goodSlides } from './good-slides.ts';

const slides = process.env.TEST_SLIDES ?? '';
const pool = new RenderPool({
  processes: 2,
  queueLimit: 16,
  timeoutMs: 20_000,
  compiledFolder: compiledCodeFolder,
});
afterAll(() => pool.close());

/** Retries while the overview of a large slide needs further calls, each of which makes progress. */
async function retryWhileBusy(render: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await render();
      return;
    } catch (error) {
      if (!(error instanceof SlideError) || error.code !== 'BUSY') throw error;
    }
  }
}

/**
 * The format in which a file is shown, or the error code; `opens, then` a code when only its pixels are
 * broken.
 */
async function outcomeOf(path: string): Promise<string> {
  let isOpen = false;
  try {
    const { format, width, height } = await pool.inspect({ path });
    isOpen = true;
    await retryWhileBusy(() => pool.thumbnail({ path }, 256));
    const maxLevel = Math.ceil(Math.log2(Math.max(width, height)));
    await retryWhileBusy(() => pool.tile({ path }, { dziLevel: maxLevel, column: 0, row: 0 }));
    return format;
  } catch (error) {
    if (!(error instanceof SlideError)) throw error;
    return isOpen ? `opens, then ${error.code}` : error.code;
  }
}

describe('a valid file of TEST_SLIDES', () => {
  it.skipIf(slides === '').each(goodSlides)('%s opens or fails as expected: %s', async (name, outcome) => {
    expect(await outcomeOf(join(slides, name))).toBe(outcome);
  });
});

const badFolder = join(slides, '../bad-slides');

describe('a broken file of bad-slides', () => {
  it.skipIf(slides === '' || !existsSync(badFolder)).each(badSlides)(
    '%s opens or fails as expected: %s',
    async (name, outcome) => {
      expect(await outcomeOf(join(badFolder, name))).toBe(outcome);
    },
  );
});
