import { describe, expect, it } from 'vitest';
import { readOnce } from './read-once.ts';

describe('something read once', () => {
  it('is read when it is first asked for, and then kept', async () => {
    let reads = 0;
    const read = readOnce(async () => ++reads);
    expect(reads).toBe(0);
    expect(await Promise.all([read(), read()])).toEqual([1, 1]);
    expect(await read()).toBe(1);
  });

  it('is read again after it could not be read', async () => {
    let reads = 0;
    const read = readOnce(async () => {
      reads++;
      if (reads === 1) throw new Error('The disk is away');
      return reads;
    });
    await expect(read()).rejects.toThrow('The disk is away');
    expect(await read()).toBe(2);
  });
});
