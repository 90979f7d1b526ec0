/** Tests reliability figure REL-10: faults of object storage become errors within a time limit, never wrong pixels. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  createObjectStore,
  type ObjectStore,
  type ObjectStoreSettings,
  type StoredObject,
} from '../object-storage/object-store.ts';
import { type Fault, type FaultProxy, startFaultProxy } from '../testing/fault-proxy.ts';
import { makeBucket, withoutObjectStore } from '../testing/test-bucket.ts';

/** Larger than what the network buffers of a connection hold on a busy machine. */
const bytes = randomBytes(16 * 2 ** 20);
/** Short timeouts for the tests; a responding store meets `attemptMs` even on a busy machine. */
const shortLimits = { backoffMs: 2, attemptMs: 20_000, totalMs: 60_000, failures: 100, probeMs: 60_000 };
const impatientLimits = { ...shortLimits, attemptMs: 150 };

let folder: string;
let proxy: FaultProxy;
let settings: ObjectStoreSettings;
let object: StoredObject;
let store: ObjectStore;

const readRange = (from = store) => from.read(object, 1000, 200_000);
const expectedBytes = bytes.subarray(1000, 201_000);
const unavailable = { name: 'SlideError', code: 'STORE_UNAVAILABLE' };

describe.skipIf(withoutObjectStore !== null)(
  `reading S3 object storage over an unreliable network${withoutObjectStore === null ? '' : ` (skipped: ${withoutObjectStore})`}`,
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
      store = createObjectStore(settings, shortLimits);
    });

    // All other tests depend on this one: the request signature contains the proxy's address, which the store must accept.
    it('returns the requested bytes when no fault occurs', async () => {
      expect(expectedBytes.equals(await readRange())).toBe(true);
    });

    it('returns the requested bytes when a proxy marks every ETag as weak', async () => {
      proxy.failAlways({ kind: 'weak-etag' });
      const { etag, size } = await store.head('slide.svs');
      const read = await store.read({ key: 'slide.svs', etag, size }, 1000, 200_000);
      expect(expectedBytes.equals(read)).toBe(true);
    });

    const transientFaults: readonly (readonly [string, Fault])[] = [
      ['a 429 response', { kind: 'status', status: 429 }],
      ['a 500 response', { kind: 'status', status: 500 }],
      ['a 503 response', { kind: 'status', status: 503 }],
      ['a connection reset', { kind: 'reset' }],
      ['a body that ends after its first half', { kind: 'half-body' }],
      ['a body with half of the requested bytes', { kind: 'short-body' }],
    ];

    it.each(transientFaults)(
      'returns the requested bytes with the third request when the first two get %s',
      async (_, fault) => {
        proxy.fail([fault, fault]);
        expect(expectedBytes.equals(await readRange())).toBe(true);
      },
    );

    it.each(transientFaults)('throws STORE_UNAVAILABLE when three requests get %s', async (_, fault) => {
      proxy.failAlways(fault);
      const before = proxy.requests.length;
      await expect(readRange()).rejects.toMatchObject(unavailable);
      expect(proxy.requests.length - before).toBe(3);
    });

    it.each([
      ['a 403 response', { kind: 'status', status: 403 }, 'STORE_UNAVAILABLE'],
      ['a 404 response', { kind: 'status', status: 404 }, 'FILE_MISSING'],
      ['a 412 response', { kind: 'status', status: 412 }, 'FILE_CHANGED'],
      ['a response with another ETag than that of the object', { kind: 'other-etag' }, 'FILE_CHANGED'],
      ['the whole object instead of a range', { kind: 'whole' }, 'STORE_UNAVAILABLE'],
      ['a response with another range than the requested one', { kind: 'wrong-range' }, 'STORE_UNAVAILABLE'],
    ] as const)('throws $2 without a retry for %s', async (_, fault, code) => {
      proxy.failAlways(fault);
      const before = proxy.requests.length;
      await expect(readRange()).rejects.toMatchObject({ code });
      expect(proxy.requests.length - before).toBe(1);
    });

    it('throws STORE_UNAVAILABLE for a redirect response, and does not follow the redirect', async () => {
      const canary = await startFaultProxy(settings.endpoint);
      proxy.failAlways({ kind: 'redirect', to: `${canary.endpoint}/canary` });
      await expect(readRange()).rejects.toMatchObject(unavailable);
      expect(canary.requests).toEqual([]);
      await canary.close();
    });

    it('throws STORE_UNAVAILABLE and closes the connection when the store sends the whole object instead of a range', async () => {
      proxy.failAlways({ kind: 'whole' });
      const before = proxy.sentBytes;
      await expect(store.read(object, 0, 100)).rejects.toMatchObject(unavailable);
      // Bytes in network buffers are counted as sent too.
      expect(proxy.sentBytes - before).toBeLessThan(bytes.length);
    });

    it.each([
      ['no response', { kind: 'stall' }],
      ['a body of 100 bytes per 100 ms', { kind: 'slow', bytes: 100 }],
    ] as const)('throws STORE_TIMEOUT after the time limit when it gets %s', async (_, fault) => {
      proxy.failAlways(fault);
      const reading = readRange(createObjectStore(settings, impatientLimits));
      await expect(reading).rejects.toMatchObject({ code: 'STORE_TIMEOUT' });
    });

    it('throws STORE_TIMEOUT for a slow response body even if garbage collection runs meanwhile', async () => {
      proxy.failAlways({ kind: 'slow', bytes: 100 });
      setFlagsFromString('--expose-gc');
      const collectGarbage = runInNewContext('gc') as () => void;
      const collecting = setInterval(collectGarbage, 20);
      try {
        await expect(readRange(createObjectStore(settings, impatientLimits))).rejects.toMatchObject({
          code: 'STORE_TIMEOUT',
        });
      } finally {
        clearInterval(collecting);
      }
    });

    it('rejects with the abort reason of the caller when the caller aborts the read', async () => {
      proxy.failAlways({ kind: 'stall' });
      const controller = new AbortController();
      const reading = store.read(object, 0, 10, controller.signal);
      controller.abort(new Error('gone'));
      await expect(reading).rejects.toThrow('gone');
    });
  },
);
