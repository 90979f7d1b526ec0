import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { SlideError } from '@lamina/slide';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RetryLater } from '../jobs/jobs.ts';
import { downloadResult } from './download-result.ts';
import { ImportRejectedError } from './problems.ts';

let folder: string;
beforeEach(async () => {
  folder = await fs.mkdtemp(path.join(os.tmpdir(), 'download-'));
});
afterEach(() => fs.rm(folder, { recursive: true }));

/** 20 MiB: three requests of at most 8 MiB. */
const bytes = Uint8Array.from({ length: 20 * 2 ** 20 }, (_, index) => index % 251);

/**
 * Downloads `bytes` from a fake object store. With `readError` the second request for content fails, with `headError` the
 * request for size and ETag.
 */
function download({
  maxBytes = 2 ** 40,
  readError = null as SlideError | null,
  headError = null as SlideError | null,
}) {
  let reads = 0;
  const store = {
    head: () =>
      headError === null ? Promise.resolve({ size: bytes.length, etag: 'e' }) : Promise.reject(headError),
    read: (_: unknown, offset: number, length: number) => {
      reads += 1;
      return readError !== null && reads === 2
        ? Promise.reject(readError)
        : Promise.resolve(bytes.slice(offset, offset + length));
    },
  };
  const target = path.join(folder, 'partial', 'layer');
  const signal = new AbortController().signal;
  return { target, outcome: downloadResult({ store, key: 'a_mask.tif', target, maxBytes, signal }) };
}

describe('downloadResult (download of an analysis result file from a bucket)', () => {
  it('copies the bytes of the object to the target file, in several requests', async () => {
    const { target, outcome } = download({});
    expect(await outcome).toBe(true);
    const copy = await fs.readFile(target);
    expect(copy.length).toBe(bytes.length);
    expect(copy.findIndex((byte, index) => byte !== bytes[index])).toBe(-1); // no byte differs
  });

  it('throws ImportRejectedError for a file above the size limit, and writes no target file', async () => {
    const { target, outcome } = download({ maxBytes: bytes.length - 1 });
    await expect(outcome).rejects.toThrow(ImportRejectedError);
    await expect(fs.stat(target)).rejects.toMatchObject({ code: 'ENOENT' });
  });

  it('returns false when the bucket does not contain the file', async () => {
    expect(await download({ headError: new SlideError('FILE_MISSING', 'no') }).outcome).toBe(false);
  });

  it.each(['FILE_CHANGED', 'STORE_UNAVAILABLE', 'STORE_TIMEOUT'] as const)(
    'throws RetryLater, so that the download is repeated, when reading from the object store fails with the error code %s',
    async (code) => {
      await expect(download({ readError: new SlideError(code, 'no') }).outcome).rejects.toThrow(RetryLater);
    },
  );
});
