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

describe('openSlide and openSlideFrom (open a slide by its path or from its files)', () => {
  it('open an Aperio file by its path; after close, reading a tile throws a SlideError', async () => {
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

  it('throw FILE_MISSING, in a message without the path, for a missing file', async () => {
    const opening = openSlide({ path: join(tmpdir(), 'no-such-slide.svs') });
    await expect(opening).rejects.toMatchObject({
      code: 'FILE_MISSING',
      message: expect.not.stringContaining('no-such'),
    });
  });

  it('throw FORMAT_NOT_RECOGNISED, in a message with the reason for each format, for a file of no known format', async () => {
    await expect(openBytes(Buffer.from('not a slide at all'))).rejects.toMatchObject({
      code: 'FORMAT_NOT_RECOGNISED',
      message: expect.stringMatching(/aperio: .+; .*tiff: .+/),
    });
  });

  it.each([
    ['an empty file', new Uint8Array()],
    ['a TIFF without an image', buildTiff({ directories: [{ tags: { 305: ascii('A program') } }] }).bytes],
  ])('throw FORMAT_NOT_RECOGNISED for %s', async (_, bytes) => {
    await expect(openBytes(bytes)).rejects.toMatchObject({ code: 'FORMAT_NOT_RECOGNISED' });
  });

  it('close the files of a slide that no format recognises', async () => {
    let isClosed = false;
    const files = memoryFiles({ slide: new Uint8Array(100) });
    const close = async () => {
      isClosed = true;
    };
    await expect(openSlideFrom({ ...files, close })).rejects.toMatchObject({ code: 'FORMAT_NOT_RECOGNISED' });
    expect(isClosed).toBe(true);
  });
});
