import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { TilePicture } from './tile-pictures.ts';
import { UploadQueue } from './upload-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

/** Returns a tile whose column is also its priority: tiles in columns with smaller numbers are uploaded first. */
const pictureAt = (column: number) => ({ place: { level: 9, column, row: 0 } }) as TilePicture;

/** Returns a queue whose uploads take `uploadMs` each, and the columns of the tiles in the order of their upload. */
function queueWith(uploadMs: number) {
  const uploaded: number[] = [];
  let now = 0;
  vi.spyOn(performance, 'now').mockImplementation(() => now);
  const upload = ({ place }: TilePicture) => {
    now += uploadMs;
    uploaded.push(place.column);
  };
  const queue = new UploadQueue(upload, ({ place }) => place.column);
  return { queue, uploaded };
}

describe('UploadQueue (copies tiles to graphics memory)', () => {
  it('uploads tiles at once until the time budget of the frame (2 ms) is used up', () => {
    const { queue, uploaded } = queueWith(0.5);
    for (const column of [1, 2, 3, 4, 5, 6]) void queue.add(pictureAt(column));
    expect(uploaded).toEqual([1, 2, 3, 4]); // 4 × 0.5 ms
  });

  it('uploads tiles beyond the time budget in later frames, those of the highest priority first', () => {
    const { queue, uploaded } = queueWith(1);
    for (const column of [1, 2, 9, 7, 8, 3]) void queue.add(pictureAt(column));
    expect(uploaded).toEqual([1, 2]);
    vi.advanceTimersToNextFrame();
    expect(uploaded).toEqual([1, 2, 3, 7]);
    vi.advanceTimersToNextFrame();
    expect(uploaded).toEqual([1, 2, 3, 7, 8, 9]);
  });

  it('uploads one tile per frame when each upload takes longer than the time budget', () => {
    const { queue, uploaded } = queueWith(5);
    for (const column of [1, 2, 3]) void queue.add(pictureAt(column));
    vi.advanceTimersToNextFrame();
    vi.advanceTimersToNextFrame();
    expect(uploaded).toEqual([1, 2, 3]);
  });

  it('returns, from add(), a promise that resolves when the tile is uploaded', async () => {
    const { queue } = queueWith(5);
    await queue.add(pictureAt(1));
    const onUploaded = vi.fn<() => void>();
    void queue.add(pictureAt(2)).then(onUploaded);
    await Promise.resolve();
    expect(onUploaded).not.toHaveBeenCalled();
    vi.advanceTimersToNextFrame();
    await vi.waitFor(() => expect(onUploaded).toHaveBeenCalled());
  });
});
