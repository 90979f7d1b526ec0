import { expect, it } from 'vitest';
import { formatBytes } from './format-bytes.ts';

it.each([
  [0, '0 bayt'],
  [999, '999 bayt'],
  [1000, '1 kB'],
  [12_400_000_000, '12,4 GB'],
  [999_940, '999,9 kB'],
  [999_960, '1 MB'],
  [999_999_999_999, '1 TB'],
  [5e18, '5.000 PB'],
])('formatBytes formats %i bytes in Turkish as "%s"', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
