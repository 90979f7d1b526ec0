import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CorrectingDecoder, canCorrectTiles } from './correcting-decoder.ts';
import type { CorrectedTile, CorrectingMessage } from './correcting-worker.ts';

/** Replaces the worker, which jsdom does not have. It sends a message to the page when the test calls `reply`. */
class FakeWorker extends EventTarget {
  readonly messages: CorrectingMessage[] = [];
  isTerminated = false;

  postMessage(message: CorrectingMessage): void {
    this.messages.push(message);
  }

  terminate(): void {
    this.isTerminated = true;
  }

  /** Ids of the tiles that the worker has received. */
  get tileIds(): number[] {
    return this.messages.flatMap((message) => ('id' in message ? [message.id] : []));
  }

  reply(tile: CorrectedTile): void {
    this.dispatchEvent(new MessageEvent('message', { data: tile }));
  }
}

const table = { size: 2, samples: new Uint8Array(24) };
const blob = new Blob(['tile']);
const bitmapOf = (name: string) => ({ name, close: vi.fn<() => void>() }) as unknown as ImageBitmap;
let workers: FakeWorker[];
let decoder: CorrectingDecoder;

beforeEach(() => {
  workers = [];
  decoder = new CorrectingDecoder(() => {
    const worker = new FakeWorker();
    workers.push(worker);
    return worker as unknown as Worker;
  });
});

afterEach(() => decoder.destroy());

describe('CorrectingDecoder (decodes tiles and corrects their colours)', () => {
  it('decodes a tile in the page, without a worker, when there is no colour table', async () => {
    const storedBitmap = bitmapOf('stored');
    vi.stubGlobal('createImageBitmap', async () => storedBitmap);
    expect(await decoder.decode(blob, null)).toBe(storedBitmap);
    expect(workers).toEqual([]);
  });

  it('sends each colour table once, and at most three tiles at a time, to the worker', async () => {
    const tiles = [1, 2, 3, 4, 5].map(() => decoder.decode(blob, table));
    const [worker] = workers;
    expect([workers.length, worker?.messages.filter((message) => 'table' in message).length]).toEqual([1, 1]);
    expect(worker?.tileIds).toEqual([1, 2, 3]);
    worker?.reply({ id: 2, bitmap: bitmapOf('second') });
    expect(await tiles[1]).toMatchObject({ name: 'second' });
    expect(worker?.tileIds).toEqual([1, 2, 3, 4]);
    const otherTable = { size: 2, samples: new Uint8Array(24) };
    const tileOfOtherTable = decoder.decode(blob, otherTable);
    for (const id of [1, 3, 4, 5, 6]) worker?.reply({ id, bitmap: bitmapOf(`tile ${id}`) });
    await Promise.all([...tiles, tileOfOtherTable]);
    expect(worker?.messages.filter((message) => 'table' in message)).toEqual([
      { table },
      { table: otherTable },
    ]);
    expect(worker?.messages.at(-1)).toMatchObject({ id: 6 });
  });

  it('rejects with an InvalidStateError, as decoding in the page does, when the bytes are not an image', async () => {
    const tile = decoder.decode(blob, table);
    workers[0]?.reply({ id: 1, name: 'InvalidStateError', message: 'broken' });
    await expect(tile).rejects.toMatchObject({ name: 'InvalidStateError', message: 'broken' });
    await expect(tile).rejects.toBeInstanceOf(DOMException);
  });

  it('corrects tiles in the page when the worker cannot be started', async () => {
    const pixels = Uint8ClampedArray.from([9, 99, 199, 255]);
    const correctedBitmap = bitmapOf('corrected');
    vi.stubGlobal('createImageBitmap', async () => ({ width: 1, height: 1, close: () => {} }));
    vi.stubGlobal(
      'OffscreenCanvas',
      class {
        getContext = () => ({
          drawImage: () => {},
          getImageData: () => ({ data: pixels }),
          putImageData: () => {},
        });
        transferToImageBitmap = () => correctedBitmap;
      },
    );
    const tiles = [1, 2, 3, 4].map(() => decoder.decode(blob, table));
    workers[0]?.dispatchEvent(new Event('error'));
    expect(await Promise.all(tiles)).toEqual(Array.from({ length: 4 }, () => correctedBitmap));
    expect(await decoder.decode(blob, table)).toBe(correctedBitmap);
    expect([...pixels]).toEqual([0, 0, 0, 255]); // all samples of the table are 0
    expect(workers).toMatchObject([{ isTerminated: true }]);
  });

  it('terminates its worker, and rejects pending and later tiles with an AbortError, when destroy() is called', async () => {
    const tile = decoder.decode(blob, table);
    decoder.destroy();
    await expect(tile).rejects.toMatchObject({ name: 'AbortError' });
    await expect(decoder.decode(blob, table)).rejects.toMatchObject({ name: 'AbortError' });
    expect(workers).toMatchObject([{ isTerminated: true }]);
  });
});

describe('canCorrectTiles (whether this browser can correct the colours of tiles)', () => {
  it('returns false when the browser does not return the exact pixels of a canvas', () => {
    expect(canCorrectTiles()).toBe(false);
  });
});
