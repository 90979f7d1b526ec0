/**
 * Opens every file of the test collections, valid and damaged, and compares the format or the error code. The files are not
 * part of the project: TEST_SLIDES names the folder of the valid ones, and the damaged ones are in `bad-slides` beside it.
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

/** Retries after BUSY: rendering the thumbnail of a large slide takes several calls, each of which makes progress. */
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
 * Opens and renders a file. Returns its format; the error code if it cannot be opened; "opens, then" the error code if only
 * rendering fails.
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

/** Returns the rows of a list of files, with a sentence about the expected outcome in front: the name of the test. */
function testsOf(files: readonly (readonly [file: string, outcome: string])[]) {
  return files.map(([file, outcome]) => {
    const [, renderError] = /^opens, then (.+)$/.exec(outcome) ?? [];
    if (renderError !== undefined)
      return [`opens ${file} and fails to render it with ${renderError}`, file, outcome];
    const isError = outcome === outcome.toUpperCase();
    return [
      isError ? `rejects ${file} with ${outcome}` : `renders ${file} (format ${outcome})`,
      file,
      outcome,
    ];
  }) as [string, string, string][];
}

describe('RenderPool (opens and renders slides) with a real file (needs TEST_SLIDES, a folder of real slides)', () => {
  it.skipIf(slides === '').each(testsOf(goodSlides))('%s', async (_, name, outcome) => {
    expect(await outcomeOf(join(slides, name))).toBe(outcome);
  });
});

const badFolder = join(slides, '../bad-slides');

describe('RenderPool (opens and renders slides) with a damaged file (needs bad-slides beside TEST_SLIDES)', () => {
  it.skipIf(slides === '' || !existsSync(badFolder)).each(testsOf(badSlides))(
    '%s',
    async (_, name, outcome) => {
      expect(await outcomeOf(join(badFolder, name))).toBe(outcome);
    },
  );
});
