import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { fingerprintOf } from './location/open-slide-files.ts';
import { openSlide, openSlideFrom } from './open-slide.ts';
import { buildSvs } from './testing/build-svs.ts';
import { ascii, buildTiff } from './testing/build-tiff.ts';
import { memoryFiles } from './testing/memory-files.ts';
import { openBytes } from './testing/open-bytes.ts';

describe('openSlide', () => {
  it('opens a file by its path', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'open-slide-'));
    const path = join(folder, 'slide.svs');
    await writeFile(path, await buildSvs());
    const slide = await openSlide({ path });
    expect(slide.format).toBe('aperio');
    expect(slide.fingerprint).toBe(await fingerprintOf({ path }, null));
    await slide.close();
    await expect(slide.readTile({ level: 0, column: 0, row: 0 })).rejects.toMatchObject({
      name: 'SlideError',
    });
    await rm(folder, { recursive: true });
  });

  it('fails with FILE_MISSING for an absent file, and the message does not contain the path', async () => {
    const opening = openSlide({ path: join(tmpdir(), 'no-such-slide.svs') });
    await expect(opening).rejects.toMatchObject({
      code: 'FILE_MISSING',
      message: expect.not.stringContaining('no-such'),
    });
  });

  it('fails for a file of no known format with a message that says for every format why it was rejected', async () => {
    await expect(openBytes(Buffer.from('not a slide at all'))).rejects.toMatchObject({
      code: 'FORMAT_NOT_RECOGNISED',
      message: expect.stringMatching(/aperio: .+; .*tiff: .+/),
    });
  });

  it.each([
    ['an empty file', new Uint8Array()],
    ['a TIFF without an image', buildTiff({ directories: [{ tags: { 305: ascii('A program') } }] }).bytes],
  ])('rejects %s with FORMAT_NOT_RECOGNISED', async (_, bytes) => {
    await expect(openBytes(bytes)).rejects.toMatchObject({ code: 'FORMAT_NOT_RECOGNISED' });
  });

  it('closes the files of the slide when no format recognises them', async () => {
    let isClosed = false;
    const files = memoryFiles({ slide: new Uint8Array(100) });
    const close = async () => {
      isClosed = true;
    };
    await expect(openSlideFrom({ ...files, close })).rejects.toMatchObject({ code: 'FORMAT_NOT_RECOGNISED' });
    expect(isClosed).toBe(true);
  });
});
