import { describe, expect, it } from 'vitest';
import { createTransferRate } from './transfer-rate.ts';

describe('createTransferRate', () => {
  it('returns null before one second of samples', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(500, 900);
    expect(rate.bytesPerSecond()).toBeNull();
  });

  it('returns bytes per second', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(4000, 2000);
    expect(rate.bytesPerSecond()).toBe(2000);
  });

  it('forgets samples older than ten seconds', () => {
    const rate = createTransferRate();
    rate.add(0, 0);
    rate.add(1_000_000, 5000);
    rate.add(1_000_000, 14_000);
    rate.add(1_002_000, 15_000);
    expect(rate.bytesPerSecond()).toBe(200);
  });
});
