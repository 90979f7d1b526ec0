import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { buildSvs, makeBucket, withoutObjectStore } from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { createBucketDestination } from './bucket-destination.ts';
import { sender } from './testing/send.ts';

vi.setConfig({ testTimeout: 60_000 });

async function openBucket() {
  const server = await testServer({ config: { objectStore: await makeBucket('slides/') } });
  const { store } = server.services.objectStorage ?? expect.fail('no object storage');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-bucket-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const writeReceivedFile = (name: string, text: string) => {
    fs.writeFileSync(path.join(folder, name), text);
    return { receivedFile: path.join(folder, name), sizeBytes: text.length };
  };
  /** Returns key and size in bytes of each object. */
  const keys = async () => {
    const found: string[] = [];
    for await (const { key, size } of store.list('')) found.push(`${key} ${size}`);
    return found;
  };
  const destination = createBucketDestination(store, new AbortController().signal);
  const upload = {
    targetPath: 'Set/Case',
    isFolder: true,
    files: [
      { ...writeReceivedFile('1', 'one'), path: 'A.mrxs' },
      { ...writeReceivedFile('2', 'second'), path: 'A/Data.dat' },
    ],
    assemblyFolder: path.join(folder, 'none'),
    isRetry: false,
  };
  return { server, store, destination, upload, writeReceivedFile, keys };
}

describe.skipIf(withoutObjectStore !== null)(`upload to a bucket (${withoutObjectStore ?? 'S3'})`, () => {
  it('of one file is stored as an object and catalogued as a slide', async () => {
    const { server, keys } = await openBucket();
    const { services, as, fixtures } = server;
    const client = as(await fixtures.admin());
    const { sendAll, list } = sender(async (method, url, { headers, body } = {}) => {
      const payload = body instanceof Uint8Array ? Buffer.from(body) : body;
      const request = {
        method: method as 'GET',
        url,
        ...(headers && { headers }),
        ...(payload && { payload }),
      };
      const answer = await client.inject(request);
      return { ...answer, headers: answer.headers as Record<string, string> };
    });
    const svs = await buildSvs();
    await sendAll({ dataset: 'Böbrek', path: 'a.svs', files: { 'a.svs': svs } });
    await services.uploads.settled();
    expect(await keys()).toEqual([`Böbrek/a.svs ${svs.length}`]);
    await services.catalogue.rescan();
    await services.catalogue.settled();
    expect(await list()).toMatchObject([
      { state: 'done', images: [{ file_name: 'a.svs', status: 'ready' }] },
    ]);
  });

  it('of a folder stores all its files, and fails when the bucket already has an object under the target path', async () => {
    const { destination, upload, keys } = await openBucket();
    expect(await destination.isTaken(upload.targetPath)).toBe(false);
    expect(await destination.store(upload)).toBe(true);
    expect(await keys()).toEqual(['Set/Case/A.mrxs 3', 'Set/Case/A/Data.dat 6']);
    expect(await destination.isTaken(upload.targetPath)).toBe(true);
    expect(await destination.isTaken('Set/Cas')).toBe(false);
    expect(await destination.store(upload)).toBe(false);
  });

  it('is rejected when a parent of the target path is an object, below which the catalogue would not find a slide', async () => {
    const { store, destination, upload, writeReceivedFile, keys } = await openBucket();
    await store.put('Set', writeReceivedFile('3', 'other').receivedFile);
    expect(await destination.isTaken(upload.targetPath)).toBe(true);
    expect(await destination.store(upload)).toBe(false);
    expect(await keys()).toEqual(['Set 5']);
  });

  it('is completed by a retry after the server ended during the transfer; a retry fails when the target path has an object of another origin', async () => {
    const { store, destination, upload, writeReceivedFile, keys } = await openBucket();
    await store.put('Set/Case/A/Data.dat', upload.files[1]?.receivedFile ?? '');
    expect(await destination.store(upload)).toBe(false);
    expect(await destination.store({ ...upload, isRetry: true })).toBe(true);
    expect(await keys()).toEqual(['Set/Case/A.mrxs 3', 'Set/Case/A/Data.dat 6']);
    await store.put('Set/Case/other.dat', writeReceivedFile('3', 'other').receivedFile);
    expect(await destination.store({ ...upload, isRetry: true })).toBe(false);
  });
});
