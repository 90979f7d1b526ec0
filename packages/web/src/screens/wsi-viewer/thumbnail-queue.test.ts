import { beforeEach, describe, expect, it, vi } from 'vitest';
import { createThumbnailQueue } from './thumbnail-queue.ts';

beforeEach(() => {
  vi.useFakeTimers();
});

function gate() {
  const { ask, scrolled } = createThumbnailQueue({ maxConcurrent: 2, stayMs: 100, stillAfterMs: 150 });
  const opened: string[] = [];
  return { opened, scrolled, ask: (name: string) => ask(() => opened.push(name)) };
}

describe('the thumbnail queue', () => {
  it('starts requests in order, up to the limit of concurrent ones', () => {
    const { ask, opened } = gate();
    const leave = ['a', 'b', 'c', 'd'].map(ask);
    expect(opened).toEqual(['a', 'b']);
    leave[1]?.();
    expect(opened).toEqual(['a', 'b', 'c']);
  });

  it('skips thumbnails that are no longer needed', () => {
    const { ask, opened } = gate();
    const leave = ['a', 'b', 'c', 'd'].map(ask);
    leave[2]?.();
    leave[0]?.();
    expect(opened).toEqual(['a', 'b', 'd']);
  });

  it('frees only one slot when the same thumbnail leaves twice', () => {
    const { ask, opened } = gate();
    const leave = ['a', 'b', 'c', 'd'].map(ask);
    leave[0]?.();
    leave[0]?.();
    expect(opened).toEqual(['a', 'b', 'c']);
  });

  it('delays requests for thumbnails while the list scrolls', () => {
    const { ask, opened, scrolled } = gate();
    scrolled();
    ask('a');
    vi.advanceTimersByTime(99);
    expect(opened).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(opened).toEqual(['a']);
  });

  it('does not request thumbnails of rows that scroll past quickly', () => {
    const { ask, opened, scrolled } = gate();
    for (let row = 0; row < 10_000; row++) {
      scrolled();
      const leave = ask(`${row}`);
      vi.advanceTimersByTime(16);
      leave();
    }
    expect(opened).toEqual([]);
  });

  it('requests thumbnails immediately after the list has stopped scrolling', () => {
    const { ask, opened, scrolled } = gate();
    scrolled();
    vi.advanceTimersByTime(150);
    ask('a');
    expect(opened).toEqual(['a']);
  });
});
