import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CorrectingDecoder, canCorrectTiles } from './correcting-decoder.ts';
import type { CorrectedTile, CorrectingMessage } from './correcting-worker.ts';

/** Stands for the worker, which jsdom does not have. It answers when the test calls `answer`. */
class FakeWorker extends EventTarget {
  readonly messages: CorrectingMessage[] = [];
  isEnded = false;

  postMessage(message: CorrectingMessage): void {
    this.messages.push(message);
  }

  terminate(): void {
    this.isEnded = true;
  }

  get ids(): number[] {
    return this.messages.flatMap((message) => ('id' in message ? [message.id] : []));
  }

  answer(answer: CorrectedTile): void {
    this.dispatchEvent(new MessageEvent('message', { data: answer }));
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

describe('CorrectingDecoder', () => {
  it('decodes in the page, without a worker, for a slide without a colour table', async () => {
    const stored = bitmapOf('stored');
    vi.stubGlobal('createImageBitmap', async () => stored);
    expect(await decoder.decode(blob, null)).toBe(stored);
    expect(workers).toEqual([]);
  });

  it('sends the colour table once and at most three tiles at a time to the worker', async () => {
    const tiles = [1, 2, 3, 4, 5].map(() => decoder.decode(blob, table));
    const [worker] = workers;
    expect([workers.length, worker?.messages.filter((message) => 'table' in message).length]).toEqual([1, 1]);
    expect(worker?.ids).toEqual([1, 2, 3]);
    worker?.answer({ id: 2, bitmap: bitmapOf('second') });
    expect(await tiles[1]).toMatchObject({ name: 'second' });
    expect(worker?.ids).toEqual([1, 2, 3, 4]);
    const other = { size: 2, samples: new Uint8Array(24) };
    const ofOther = decoder.decode(blob, other);
    for (const id of [1, 3, 4, 5, 6]) worker?.answer({ id, bitmap: bitmapOf(`tile ${id}`) });
    await Promise.all([...tiles, ofOther]);
    expect(worker?.messages.filter((message) => 'table' in message)).toEqual([{ table }, { table: other }]);
    expect(worker?.messages.at(-1)).toMatchObject({ id: 6 });
  });

  it('rejects with an InvalidStateError, as decoding in the page does, when the bytes are no image', async () => {
    const tile = decoder.decode(blob, table);
    workers[0]?.answer({ id: 1, name: 'InvalidStateError', message: 'broken' });
    await expect(tile).rejects.toMatchObject({ name: 'InvalidStateError', message: 'broken' });
    await expect(tile).rejects.toBeInstanceOf(DOMException);
  });

  it('corrects tiles in the page when the worker cannot be started', async () => {
    const pixels = Uint8ClampedArray.from([9, 99, 199, 255]);
    const corrected = bitmapOf('corrected');
    vi.stubGlobal('createImageBitmap', async () => ({ width: 1, height: 1, close: () => {} }));
    vi.stubGlobal(
      'OffscreenCanvas',
      class {
        getContext = () => ({
          drawImage: () => {},
          getImageData: () => ({ data: pixels }),
          putImageData: () => {},
        });
        transferToImageBitmap = () => corrected;
      },
    );
    const tiles = [1, 2, 3, 4].map(() => decoder.decode(blob, table));
    workers[0]?.dispatchEvent(new Event('error'));
    expect(await Promise.all(tiles)).toEqual([corrected, corrected, corrected, corrected]);
    expect(await decoder.decode(blob, table)).toBe(corrected);
    expect([...pixels]).toEqual([0, 0, 0, 255]);
    expect(workers).toMatchObject([{ isEnded: true }]);
  });

  it('ends its worker and rejects pending tiles when the view is destroyed', async () => {
    const tile = decoder.decode(blob, table);
    decoder.destroy();
    await expect(tile).rejects.toMatchObject({ name: 'AbortError' });
    await expect(decoder.decode(blob, table)).rejects.toMatchObject({ name: 'AbortError' });
    expect(workers).toMatchObject([{ isEnded: true }]);
  });
});

describe('canCorrectTiles', () => {
  it('returns false when the browser does not return the exact pixels of a canvas', () => {
    expect(canCorrectTiles()).toBe(false); // jsdom has no canvas
  });
});
