import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SlideError } from '@lamina/slide';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RetryLater } from '../jobs/jobs.ts';
import { downloadResult } from './download-result.ts';
import { RefusedResult } from './problems.ts';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'download-'));
});
afterEach(() => fs.rm(folder, { recursive: true }));

const bytes = Uint8Array.from({ length: 20 * 2 ** 20 }, (_, at) => at % 251);

/** Downloads these bytes; a store that fails throws the error with its second request for them. */
function download({
  maxBytes = 2 ** 40,
  fails = null as SlideError | null,
  head = null as SlideError | null,
}) {
  let reads = 0;
  const store = {
    head: () => (head === null ? Promise.resolve({ size: bytes.length, etag: 'e' }) : Promise.reject(head)),
    read: (_: unknown, offset: number, length: number) => {
      reads += 1;
      return fails !== null && reads === 2
        ? Promise.reject(fails)
        : Promise.resolve(bytes.slice(offset, offset + length));
    },
  };
  const target = path.join(folder, 'partial', 'layer');
  const signal = new AbortController().signal;
  return { target, done: downloadResult({ store, key: 'a_mask.tif', target, maxBytes, signal }) };
}

describe('download of a result file from a bucket', () => {
  it('copies the file in parts', async () => {
    const { target, done } = download({});
    expect(await done).toBe(true);
    expect((await fs.readFile(target)).equals(bytes)).toBe(true);
  });

  it('rejects a file above the size limit before reading it', async () => {
    const { target, done } = download({ maxBytes: bytes.length - 1 });
    await expect(done).rejects.toThrow(RefusedResult);
    await expect(fs.stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('returns false when the file is missing', async () => {
    expect(await download({ head: new SlideError('FILE_MISSING', 'no') }).done).toBe(false);
  });

  it.each(['FILE_CHANGED', 'STORE_UNAVAILABLE', 'STORE_TIMEOUT'] as const)(
    'is retried later after %s',
    async (code) => {
      await expect(download({ fails: new SlideError(code, 'no') }).done).rejects.toThrow(RetryLater);
    },
  );
});
