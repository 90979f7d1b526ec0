import { execFileSync, spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  appendFile,
  chmod,
  mkdir,
  mkdtemp,
  open,
  rename,
  rm,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fingerprintOfFiles, openFileSource } from './file-source.ts';
import { readPace } from './read-pace.ts';

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'file-source-'));
  path = join(folder, 'slide.svs');
  await writeFile(
    path,
    Uint8Array.from({ length: 100 }, (_, i) => i),
  );
});
afterEach(() => rm(folder, { recursive: true }));

describe('openFileSource (opens a local file to read byte ranges)', () => {
  it('reads exactly the requested bytes', async () => {
    const source = await openFileSource(path);
    expect(source.size).toBe(100);
    expect([...(await source.read(97, 3))]).toEqual([97, 98, 99]);
    expect(await source.read(100, 0)).toHaveLength(0);
    await source.close();
  });

  it('reads into a part of a buffer and leaves the other bytes of the buffer unchanged', async () => {
    const source = await openFileSource(path);
    const buffer = new Uint8Array(6).fill(255);
    await source.readInto(buffer, 2, 10, 3);
    expect([...buffer]).toEqual([255, 255, 10, 11, 12, 255]);
    await source.close();
  });

  it.each([
    ['past the end', 99, 2, 'FILE_TRUNCATED'],
    ['far past the end', 2 ** 52, 1, 'FILE_TRUNCATED'],
    ['of more bytes than the file has', 0, 2 ** 40, 'FILE_TRUNCATED'],
    ['before the start', -1, 2, 'FILE_CORRUPT'],
    ['at a fractional offset', 0.5, 2, 'FILE_CORRUPT'],
    ['at the offset infinity', Number.POSITIVE_INFINITY, 2, 'FILE_CORRUPT'],
    ['with a negative length', 2, -1, 'FILE_CORRUPT'],
  ])('throws $3 for a read %s', async (_, offset, length, code) => {
    const source = await openFileSource(path);
    await expect(source.read(offset, length)).rejects.toMatchObject({ code });
    await source.close();
  });

  it.each([
    ['is truncated', () => truncate(path, 50)],
    ['grows', () => appendFile(path, 'more')],
    [
      'is overwritten outside the read range',
      async () => {
        const file = await open(path, 'r+');
        await file.write('new', 90);
        await file.utimes(0, 1); // file timestamps may have a resolution of several milliseconds
        await file.close();
      },
    ],
  ])('throws FILE_CHANGED for every read after the file %s', async (_, change) => {
    const source = await openFileSource(path);
    await change();
    await expect(source.read(10, 5)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await expect(source.read(60, 20)).rejects.toMatchObject({ code: 'FILE_CHANGED' });
    await source.close();
  });

  it('keeps reading the opened file after another file replaced it at its path, and after the path was deleted', async () => {
    const source = await openFileSource(path);
    await writeFile(join(folder, 'new'), new Uint8Array(100));
    await rename(join(folder, 'new'), path);
    expect([...(await source.read(97, 3))]).toEqual([97, 98, 99]);
    await rm(path);
    expect([...(await source.read(97, 3))]).toEqual([97, 98, 99]);
    await source.close();
  });

  it('reads a file that has grown since the opening if the file was opened with the option mayGrow', async () => {
    const source = await openFileSource(path, { mayGrow: true });
    await appendFile(path, 'more');
    expect([...(await source.read(97, 3))]).toEqual([97, 98, 99]);
    await source.close();
  });

  it('returns the bytes of the file from reads on the calling thread and from reads in the thread pool', async () => {
    const bytes = randomBytes(600_000);
    await writeFile(path, bytes);
    const source = await openFileSource(path);
    for (const length of [1, 11_000, 600_000]) {
      expect(Buffer.from(await source.read(0, length)).equals(bytes.subarray(0, length))).toBe(true);
    }
    readPace.recordRead(1000); // as if a read had blocked for 1 s
    expect(Buffer.from(await source.read(7, 11_000)).equals(bytes.subarray(7, 11_007))).toBe(true);
    await source.close();
  });

  it('throws FILE_MISSING for a read after the source was closed', async () => {
    const source = await openFileSource(path);
    await source.close();
    await expect(source.read(0, 1)).rejects.toMatchObject({ code: 'FILE_MISSING' });
  });

  it('rejects a read with the abort reason when its signal is already aborted', async () => {
    const source = await openFileSource(path);
    await expect(source.read(0, 1, AbortSignal.abort())).rejects.toThrow('aborted');
    await source.close();
  });

  it('throws FILE_MISSING, in a message without the path, for a missing file', async () => {
    const error = await openFileSource(join(folder, 'secret.svs')).catch((caught: unknown) => caught);
    expect(error).toMatchObject({ code: 'FILE_MISSING', message: expect.not.stringContaining('secret') });
  });

  it.skipIf(process.platform === 'win32')(
    'throws FILE_MISSING, in a message about the missing permission, for a file that the process may not read',
    async () => {
      await chmod(folder, 0o755);
      await chmod(path, 0o000);
      const module = new URL('file-source.ts', import.meta.url).href;
      const script = `import { openFileSource } from '${module}';
      openFileSource(process.argv[1]).catch(({ code, message }) => console.log(code, message));`;
      // Root can read every file, so a test that runs as root starts the process as the user `nobody`.
      const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '--eval', script, path], {
        ...user,
        encoding: 'utf8',
      });
      expect(stdout).toBe('FILE_MISSING The server has no permission to read a file of the slide\n');
    },
  );

  it('rejects a folder with NOT_A_SLIDE', async () => {
    await expect(openFileSource(folder)).rejects.toMatchObject({ code: 'NOT_A_SLIDE' });
  });

  it.skipIf(process.platform === 'win32')(
    'rejects a named pipe with NOT_A_SLIDE, without waiting for a writer',
    async () => {
      const pipe = join(folder, 'pipe');
      execFileSync('mkfifo', [pipe]);
      await expect(openFileSource(pipe)).rejects.toMatchObject({ code: 'NOT_A_SLIDE' });
    },
  );
});

describe('the fingerprint of a slide (version of its files)', () => {
  it('is the same for an open file (openFileSource) and for the file on disk (fingerprintOfFiles)', async () => {
    const source = await openFileSource(path);
    expect(await fingerprintOfFiles({ path })).toBe(source.fingerprint);
    await source.close();
  });

  it('is URL-safe and at most 64 characters long', async () => {
    expect(await fingerprintOfFiles({ path })).toMatch(/^[\w-]{1,64}$/);
  });

  it.each([
    ['grown', () => appendFile(path, 'more')],
    [
      'rewritten to the same size',
      async () => {
        await writeFile(path, new Uint8Array(100));
        // File timestamps may have a resolution of several milliseconds.
        await utimes(path, 0, 1);
      },
    ],
    [
      'replaced by another file',
      async () => {
        await writeFile(join(folder, 'new'), new Uint8Array(100));
        await rename(join(folder, 'new'), path);
      },
    ],
  ])('changes when the file is %s', async (_, change) => {
    const before = await fingerprintOfFiles({ path });
    await change();
    expect(await fingerprintOfFiles({ path })).not.toBe(before);
  });

  it.each([
    ['changed', () => appendFile(join(folder, 'parts', 'deep', 'a.dat'), 'more')],
    ['added', () => writeFile(join(folder, 'parts', 'deep', 'b.dat'), '')],
    ['removed', () => rm(join(folder, 'parts', 'deep', 'a.dat'))],
  ])('changes when a file in a folder that belongs to the slide is %s', async (_, change) => {
    const location = { path, members: ['parts/'] };
    await mkdir(join(folder, 'parts', 'deep'), { recursive: true });
    await writeFile(join(folder, 'parts', 'deep', 'a.dat'), 'bytes');
    const before = await fingerprintOfFiles(location);
    expect(await fingerprintOfFiles(location)).toBe(before);
    await change();
    expect(await fingerprintOfFiles(location)).not.toBe(before);
  });
});
