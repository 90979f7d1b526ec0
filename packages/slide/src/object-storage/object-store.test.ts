import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type FileHandle, mkdtemp, open, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import { createObjectStore, type ObjectStore, type ObjectStoreSettings } from './object-store.ts';

const bytes = randomBytes(300_000);
let settings: ObjectStoreSettings;
let store: ObjectStore;
let folder: string;

const file = (name: string) => join(folder, name);
const listKeys = async (prefix: string, from = store) => {
  const keys: string[] = [];
  for await (const { key } of from.list(prefix)) keys.push(key);
  return keys;
};

/** Tests the contract of ObjectStore against a real S3 server. */
describe.skipIf(withoutObjectStore !== null)(
  `createObjectStore (client of S3 storage)${withoutObjectStore === null ? '' : ` (skipped: ${withoutObjectStore})`}`,
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'object-store-'));
      settings = await makeBucket();
      store = createObjectStore(settings);
      await writeFile(file('slide.svs'), bytes);
      await writeFile(file('empty'), '');
    });
    afterAll(() => rm(folder, { recursive: true }));

    it('stores a file and returns its size and ETag', async () => {
      const put = await store.put('Tissue/slide.svs', file('slide.svs'));
      expect(put).toEqual({ size: bytes.length, etag: expect.stringMatching(/^[\w-]{16,}$/) });
      expect(await store.head('Tissue/slide.svs')).toEqual(put);
      const found: unknown[] = [];
      for await (const object of store.list('Tissue/')) found.push(object);
      const lastModified = expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/);
      expect(found).toEqual([{ key: 'Tissue/slide.svs', ...put, lastModified }]);
    });

    it('reads exactly the requested bytes, and throws FILE_TRUNCATED for bytes beyond the end', async () => {
      const facts = await store.put('a.svs', file('slide.svs'));
      const read = (offset: number, length: number) => store.read({ key: 'a.svs', ...facts }, offset, length);
      expect(bytes.subarray(0, 1).equals(await read(0, 1))).toBe(true);
      expect(bytes.subarray(1234, 250_000).equals(await read(1234, 250_000 - 1234))).toBe(true);
      expect(bytes.subarray(-5).equals(await read(bytes.length - 5, 5))).toBe(true);
      expect(bytes.equals(await read(0, bytes.length))).toBe(true);
      expect(await read(100, 0)).toHaveLength(0);
      await expect(read(bytes.length - 1, 2)).rejects.toMatchObject({ code: 'FILE_TRUNCATED' });
    });

    it('throws FILE_CHANGED for a read that expects the ETag of an object that was replaced', async () => {
      const before = await store.put('replaced.svs', file('slide.svs'));
      await writeFile(file('other.svs'), randomBytes(bytes.length));
      const after = await store.put('replaced.svs', file('other.svs'));
      expect(after.etag).not.toBe(before.etag);
      await expect(store.read({ key: 'replaced.svs', ...before }, 0, 10)).rejects.toMatchObject({
        code: 'FILE_CHANGED',
      });
    });

    it('stores a file of 13 MiB as a multipart upload in parts of 6 MiB', async () => {
      const multipartStore = createObjectStore(settings, { partBytes: 6 * 2 ** 20 });
      const large = randomBytes(13 * 2 ** 20);
      await writeFile(file('large.svs'), large);
      const facts = await multipartStore.put('large.svs', file('large.svs'));
      expect(facts.size).toBe(large.length);
      for await (const { key, size, etag } of store.list('large.svs')) {
        expect({ key, size, etag }).toEqual({ key: 'large.svs', ...facts });
      }
      const across = await store.read({ key: 'large.svs', ...facts }, 6 * 2 ** 20 - 50, 100);
      expect(large.subarray(6 * 2 ** 20 - 50, 6 * 2 ** 20 + 50).equals(across)).toBe(true);
    });

    it('stores an empty file as an object of 0 bytes', async () => {
      expect(await store.put('empty.svs', file('empty'))).toMatchObject({ size: 0 });
    });

    it('throws FILE_MISSING when it reads a missing object or stores a missing local file', async () => {
      await expect(store.head('gone.svs')).rejects.toMatchObject({ code: 'FILE_MISSING' });
      const missing = { key: 'gone.svs', size: 10, etag: 'x' };
      await expect(store.read(missing, 0, 10)).rejects.toMatchObject({ code: 'FILE_MISSING' });
      await expect(store.put('gone.svs', file('nothing'))).rejects.toMatchObject({ code: 'FILE_MISSING' });
    });

    it('deletes an object, and ignores a second deletion', async () => {
      await store.put('short-lived.svs', file('slide.svs'));
      await store.delete('short-lived.svs');
      await store.delete('short-lived.svs');
      await expect(store.head('short-lived.svs')).rejects.toMatchObject({ code: 'FILE_MISSING' });
    });

    it.each([
      'Gewebe/Präparat 1.svs',
      'Doku/ölçüm + kırpıntı (2).svs',
      "Odd/it's 100% *!.svs",
      'Plain/a&b=c;d?e#f.svs',
      'Deep/er/and/deeper/slide.svs',
    ])('stores, reads and lists an object with the key "%s"', async (key) => {
      const facts = await store.put(key, file('slide.svs'));
      expect((await store.read({ key, ...facts }, 0, 5)).length).toBe(5);
      expect(await listKeys(key.slice(0, key.indexOf('/') + 1))).toContain(key);
    });

    it.each(['../secret.svs', 'a/../b.svs', './a.svs', ''])(
      'rejects with FILE_MISSING the key %j, which is empty or has a folder "." or ".." that a URL cannot contain',
      async (key) => {
        await expect(store.head(key)).rejects.toMatchObject({ code: 'FILE_MISSING' });
      },
    );

    it('lists only the keys that begin with the configured prefix, and returns them without the prefix', async () => {
      const prefixed = createObjectStore({ ...settings, prefix: 'slides/' });
      await prefixed.put('Set/a.svs', file('slide.svs'));
      expect(await listKeys('', prefixed)).toEqual(['Set/a.svs']);
      expect(await listKeys('slides/')).toEqual(['slides/Set/a.svs']);
    });

    it('throws STORE_UNAVAILABLE with the S3 error code SignatureDoesNotMatch for a wrong secret key', async () => {
      const wrong = createObjectStore({ ...settings, secretAccessKey: 'wrong' });
      await expect(listKeys('', wrong)).rejects.toMatchObject({
        code: 'STORE_UNAVAILABLE',
        message: 'The object store responded with status 403 (SignatureDoesNotMatch)',
      });
      await expect(wrong.head('a.svs')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    });

    it('throws STORE_UNAVAILABLE for a list of a missing bucket, instead of returning an empty list', async () => {
      const withMissingBucket = createObjectStore({ ...settings, bucket: 'there-is-no-such-bucket' });
      await expect(listKeys('', withMissingBucket)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    });

    it('lists all keys in order when the store returns the list in several pages', async () => {
      const paged = createObjectStore(settings, { pageKeys: 3 });
      const names = Array.from({ length: 8 }, (_, i) => `many/${i}.svs`);
      await Promise.all(names.map((name) => paged.put(name, file('empty'))));
      expect(await listKeys('many/', paged)).toEqual(names);
    });
  },
);

/** Starts an HTTP server in place of an S3 server. @returns settings of its bucket */
async function startServer(handle: RequestListener): Promise<ObjectStoreSettings> {
  const server = createServer(handle).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bucket: 'slides',
    prefix: '',
    region: 'eu-central-1',
    accessKeyId: 'key',
    secretAccessKey: 'secret',
  };
}

describe('list of createObjectStore (lists the keys of an S3 bucket)', () => {
  it('throws STORE_UNAVAILABLE for a truncated page without a continuation token, instead of an incomplete list', async () => {
    const page =
      '<ListBucketResult><IsTruncated>true</IsTruncated><Contents><Key>a.svs</Key><Size>1</Size>' +
      '<ETag>"0"</ETag><LastModified>2026-01-01T00:00:00.000Z</LastModified></Contents></ListBucketResult>';
    const incomplete = createObjectStore(await startServer((_, response) => response.end(page)));
    await expect(listKeys('', incomplete)).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringContaining('a page of a list has no continuation token'),
    });
  });
});

describe('read of createObjectStore (reads a byte range of an object)', () => {
  it.each([
    ['declares a shorter range than requested', 'bytes 0-49/1000'],
    ['declares the requested range but has fewer bytes', 'bytes 0-99/1000'],
  ])('throws STORE_UNAVAILABLE for a 206 response that %s', async (_, contentRange) => {
    const settings = await startServer((_request, response) => {
      response.writeHead(206, { 'content-range': contentRange, 'content-length': '50', etag: '"0"' });
      response.end(Buffer.alloc(50, 1));
    });
    const shortStore = createObjectStore(settings, { retries: 0 });
    const object = { key: 'a.svs', size: 1000, etag: '0' };
    await expect(shortStore.read(object, 0, 100)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
  });
});

describe('put of createObjectStore (stores a file as an object)', () => {
  it('sends the whole file when the file system returns at most 1,000 bytes per call', async () => {
    const uploadFolder = await mkdtemp(join(tmpdir(), 'object-store-'));
    onTestFinished(() => rm(uploadFolder, { recursive: true }));
    const path = join(uploadFolder, 'slide.svs');
    const content = randomBytes(2500);
    await writeFile(path, content);
    const received: Buffer[] = [];
    const settings = await startServer((request, response) => {
      request.on('data', (chunk: Buffer) => received.push(chunk));
      request.on('end', () => {
        // The length is that of the response to HEAD, which `put` sends after PUT.
        if (request.method === 'HEAD') response.setHeader('content-length', String(content.length));
        response.setHeader('etag', '"0"');
        response.end();
      });
    });
    const handle = await open(path);
    const prototype = Object.getPrototypeOf(handle) as FileHandle;
    await handle.close();
    const readFully = prototype.read as (...args: unknown[]) => Promise<unknown>;
    vi.spyOn(prototype, 'read').mockImplementation(function (this: FileHandle, ...args: unknown[]) {
      const [buffer, start, length, position] = args;
      return readFully.call(this, buffer, start, Math.min(Number(length), 1000), position);
    } as never);
    onTestFinished(() => void vi.restoreAllMocks());
    expect(await createObjectStore(settings).put('slide.svs', path)).toEqual({ size: 2500, etag: '0' });
    expect(content.equals(Buffer.concat(received))).toBe(true);
  });
});
