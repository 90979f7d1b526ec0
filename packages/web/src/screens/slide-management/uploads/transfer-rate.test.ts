import { describe, expect, it } from 'vitest';
import { createTransferRate } from './transfer-rate.ts';

describe('bytesPerSecond (transfer rate of an upload from samples of its progress)', () => {
  it('returns null while the samples cover less than one second', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(500, 900);
    expect(rate.bytesPerSecond()).toBeNull();
  });

  it('returns the bytes per second between the first and the last sample', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(4000, 2000);
    expect(rate.bytesPerSecond()).toBe(2000); // 4000 bytes in 2 s
  });

  it('ignores samples that are older than ten seconds', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(1_000_000, 5000);
    rate.add(1_000_000, 14_000);
    rate.add(1_002_000, 15_000);
    expect(rate.bytesPerSecond()).toBe(200); // 2000 bytes in 10 s
  });
});
