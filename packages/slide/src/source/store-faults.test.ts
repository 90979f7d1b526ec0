/** Reliability figure R10: what a store does wrong is an error, soon, and never pixels. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/fault-proxy.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';
import {
  createObjectStore,
  type ObjectStore,
  type ObjectStoreSettings,
  type StoredObject,
} from './object-store.ts';

const bytes = randomBytes(4 * 2 ** 20);
/** So that no test waits long; a store that answers does so within the time of an attempt, on a busy machine too. */
const short = { backoffMs: 2, attemptMs: 20_000, totalMs: 60_000, failures: 100, probeMs: 60_000 };
const impatient = { ...short, attemptMs: 150 };

let folder: string;
let proxy: FaultProxy;
let settings: ObjectStoreSettings;
let object: StoredObject;
let store: ObjectStore;

const reading = (from = store) => from.read(object, 1000, 200_000);
const wanted = bytes.subarray(1000, 201_000);
const unavailable = { name: 'SlideError', code: 'STORE_UNAVAILABLE' };

describe.skipIf(withoutObjectStore !== null)(
  `a store behind a bad network (${withoutObjectStore ?? 'S3'})`,
  () => {
    beforeAll(async () => {
      folder = await mkdtemp(join(tmpdir(), 'store-faults-'));
      await writeFile(join(folder, 'slide'), bytes);
      const direct = await makeBucket();
      object = {
        key: 'slide.svs',
        ...(await createObjectStore(direct).put('slide.svs', join(folder, 'slide'))),
      };
      proxy = await startFaultProxy(direct.endpoint);
      settings = { ...direct, endpoint: proxy.endpoint };
    });
    afterAll(async () => {
      await proxy?.close();
      await rm(folder, { recursive: true });
    });
    beforeEach(() => {
      proxy.fail([]);
      proxy.failAlways(null);
      store = createObjectStore(settings, short);
    });

    // The signature names the proxy's address, which the store must be told: so it is what everything else stands on.
    it('reads through the proxy', async () => {
      expect(wanted.equals(await reading())).toBe(true);
    });

    it('is read all the same where a proxy calls every ETag weak', async () => {
      proxy.failAlways({ kind: 'weak-etag' });
      const { etag, size } = await store.head('slide.svs');
      const read = await store.read({ key: 'slide.svs', etag, size }, 1000, 200_000);
      expect(wanted.equals(read)).toBe(true);
    });

    const passing: Fault[] = [
      { kind: 'status', status: 429 },
      { kind: 'status', status: 500 },
      { kind: 'status', status: 503 },
      { kind: 'reset' },
      { kind: 'half-body' },
      { kind: 'short-body' },
    ];

    it.each(passing)('is asked again after $kind $status', async (fault) => {
      proxy.fail([fault, fault]);
      expect(wanted.equals(await reading())).toBe(true);
    });

    it.each(passing)('is asked three times and no oftener: $kind $status', async (fault) => {
      proxy.failAlways(fault);
      const before = proxy.requests.length;
      await expect(reading()).rejects.toMatchObject(unavailable);
      expect(proxy.requests.length - before).toBe(3);
    });

    it.each([
      ['a refusal', { kind: 'status', status: 403 }, 'STORE_UNAVAILABLE'],
      ['an object that is not there', { kind: 'status', status: 404 }, 'FILE_MISSING'],
      ['an object that is another one', { kind: 'status', status: 412 }, 'FILE_CHANGED'],
      ['another ETag', { kind: 'other-etag' }, 'FILE_CHANGED'],
      ['the whole object instead of a part', { kind: 'whole' }, 'STORE_UNAVAILABLE'],
      ['another part', { kind: 'wrong-range' }, 'STORE_UNAVAILABLE'],
    ] as const)('says at once, without asking again: %s', async (_, fault, code) => {
      proxy.failAlways(fault);
      const before = proxy.requests.length;
      await expect(reading()).rejects.toMatchObject({ code });
      expect(proxy.requests.length - before).toBe(1);
    });

    it('does not follow where a store leads', async () => {
      const canary = await startFaultProxy(settings.endpoint);
      proxy.failAlways({ kind: 'redirect', to: `${canary.endpoint}/canary` });
      await expect(reading()).rejects.toMatchObject(unavailable);
      expect(canary.requests).toEqual([]);
      await canary.close();
    });

    it('hangs up on a store that sends a whole object', async () => {
      proxy.failAlways({ kind: 'whole' });
      const before = proxy.sentBytes;
      await expect(store.read(object, 0, 100)).rejects.toMatchObject(unavailable);
      // What is in buffers on the way is sent all the same.
      expect(proxy.sentBytes - before).toBeLessThan(bytes.length);
    });

    it.each([{ kind: 'stall' }, { kind: 'slow', bytes: 100 }] as const)(
      'is not waited for longer than allowed: $kind',
      async (fault) => {
        proxy.failAlways(fault);
        await expect(reading(createObjectStore(settings, impatient))).rejects.toMatchObject({
          code: 'STORE_TIMEOUT',
        });
      },
    );

    it('is not waited for by somebody who has gone', async () => {
      proxy.failAlways({ kind: 'stall' });
      const leaving = new AbortController();
      const answer = store.read(object, 0, 10, leaving.signal);
      leaving.abort(new Error('gone'));
      await expect(answer).rejects.toThrow('gone');
    });
  },
);
