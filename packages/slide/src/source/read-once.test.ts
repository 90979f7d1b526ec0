import { describe, expect, it } from 'vitest';
import { readOnce } from './read-once.ts';

describe('readOnce (calls a read function once and caches its result)', () => {
  it('reads at the first call and returns the same result at later calls', async () => {
    let reads = 0;
    const read = readOnce(async () => ++reads);
    expect(reads).toBe(0);
    expect(await Promise.all([read(), read()])).toEqual([1, 1]);
    expect(await read()).toBe(1);
  });

  it('reads again after a failed read', async () => {
    let reads = 0;
    const read = readOnce(async () => {
      reads++;
      if (reads === 1) throw new Error('The disk is unavailable');
      return reads;
    });
    await expect(read()).rejects.toThrow('The disk is unavailable');
    expect(await read()).toBe(2);
  });
});
