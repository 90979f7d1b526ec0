/** Tests the evaluation of browser traces for the time that the main thread spends on tiles. */
import { describe, expect, it } from 'vitest';
import { figuresOf } from './main-thread.ts';

/**
 * Creates a trace event of thread `tid` that starts at `ts` and lasts `dur` (microseconds). Its CPU time is half of its duration.
 */
const event = (name: string, ts: number, dur = 0, tid = 1) => ({ name, pid: 1, tid, ts, dur, tdur: dur / 2 });

describe('figuresOf (evaluates a browser trace of the renderer benchmark)', () => {
  it('returns the CPU milliseconds of the tasks of the drawing thread that draw or copy tiles', () => {
    const figures = figuresOf([
      event('RunTask', 0, 8000),
      event('tiles drawn', 7000),
      event('RunTask', 10_000, 2000),
      event('tiles copied', 11_000),
      event('RunTask', 20_000, 60_000),
      event('MajorGC', 21_000, 50_000),
      event('RunTask', 0, 900_000, 2),
      event('Decode Image', 0, 900_000, 2),
    ]);
    expect(figures).toEqual({
      frames: { count: 1, p50: 4, p95: 4, longest: 4 },
      copies: { count: 1, p50: 1, p95: 1, longest: 1 },
      longest: 30,
      longestName: 'MajorGC',
      decodes: 0,
    });
  });

  it('counts the images that the drawing thread decodes', () => {
    const events = [event('RunTask', 0, 8000), event('tiles drawn', 7000), event('Decode Image', 1000, 2000)];
    expect(figuresOf(events)).toMatchObject({ decodes: 1, longestName: 'tiles' });
  });

  it('throws an error when the trace shows that the page drew no tiles', () => {
    expect(() => figuresOf([event('RunTask', 0, 8000)])).toThrow('drew no tiles');
  });
});
