import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createThumbnailQueue } from './thumbnail-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

/** Creates a queue with two slots. `enqueue` adds a thumbnail by its name; `started` lists the thumbnails that may load. */
function createQueue() {
  const queue = createThumbnailQueue({ maxConcurrent: 2, scrollDelayMs: 100, stillAfterMs: 150 });
  const started: string[] = [];
  const enqueue = (name: string) => queue.enqueue(() => started.push(name));
  return { started, noteScroll: queue.noteScroll, enqueue };
}

describe('the queue of thumbnails that the image catalogue loads', () => {
  it('starts thumbnails in the order in which they were added, at most two at a time (maxConcurrent: 2)', () => {
    const { enqueue, started } = createQueue();
    const leave = ['a', 'b', 'c', 'd'].map(enqueue);
    expect(started).toEqual(['a', 'b']);
    leave[1]?.();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('does not start a thumbnail that left the queue while it was waiting', () => {
    const { enqueue, started } = createQueue();
    const leave = ['a', 'b', 'c', 'd'].map(enqueue);
    leave[2]?.();
    leave[0]?.();
    expect(started).toEqual(['a', 'b', 'd']);
  });

  it('frees only one slot when the same thumbnail leaves the queue twice', () => {
    const { enqueue, started } = createQueue();
    const leave = ['a', 'b', 'c', 'd'].map(enqueue);
    leave[0]?.();
    leave[0]?.();
    expect(started).toEqual(['a', 'b', 'c']);
  });

  it('delays the start of a thumbnail by 100 ms when it is added while the list scrolls', () => {
    const { enqueue, started, noteScroll } = createQueue();
    noteScroll();
    enqueue('a');
    vi.advanceTimersByTime(99);
    expect(started).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(started).toEqual(['a']);
  });

  it('starts no thumbnail that leaves the queue within 100 ms of its addition while the list scrolls', () => {
    const { enqueue, started, noteScroll } = createQueue();
    for (let row = 0; row < 10_000; row++) {
      noteScroll();
      const leave = enqueue(`${row}`);
      vi.advanceTimersByTime(16);
      leave();
    }
    expect(started).toEqual([]);
  });

  it('starts a thumbnail at once when the list has not scrolled for 150 ms', () => {
    const { enqueue, started, noteScroll } = createQueue();
    noteScroll();
    vi.advanceTimersByTime(150);
    enqueue('a');
    expect(started).toEqual(['a']);
  });
});
