/**
 * Every file of the shared folders, broken and whole, one line a case: what is shown of it, or the error it must give.
 * The folders are not part of the project: TEST_SLIDES names the one, `bad-slides` stands beside it.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { SlideError, TileMaker } from '../index.ts';
import { badSlides } from './bad-slides.ts';
import { goodSlides } from './good-slides.ts';

const slides = process.env.TEST_SLIDES ?? '';
const maker = new TileMaker({ processes: 2, queueLimit: 16, timeoutMs: 20_000 });
afterAll(() => maker.close());

/** Large slides take several goes, and more of them on a busy machine: none is lost. */
async function whenMade(make: () => Promise<unknown>): Promise<void> {
  for (;;) {
    try {
      await make();
      return;
    } catch (error) {
      if (!(error instanceof SlideError) || error.code !== 'BUSY') throw error;
    }
  }
}

/** The format it is shown in, or the code of the error; `opens, then` a code where only its pixels are broken. */
async function outcomeOf(path: string): Promise<string> {
  let isOpen = false;
  try {
    const { format, width, height } = await maker.inspect({ path });
    isOpen = true;
    await whenMade(() => maker.thumbnail({ path }, 256));
    const maxLevel = Math.ceil(Math.log2(Math.max(width, height)));
    await whenMade(() => maker.tile({ path }, { dziLevel: maxLevel, column: 0, row: 0 }));
    return format;
  } catch (error) {
    if (!(error instanceof SlideError)) throw error;
    return isOpen ? `opens, then ${error.code}` : error.code;
  }
}

describe('with TEST_SLIDES, a whole file', () => {
  it.skipIf(slides === '').each(goodSlides)('%s: %s', async (name, outcome) => {
    expect(await outcomeOf(join(slides, name))).toBe(outcome);
  });
});

const badFolder = join(slides, '../bad-slides');

describe('with TEST_SLIDES and bad-slides beside it, a broken file', () => {
  it.skipIf(slides === '' || !existsSync(badFolder)).each(badSlides)('%s: %s', async (name, outcome) => {
    expect(await outcomeOf(join(badFolder, name))).toBe(outcome);
  });
});
