import { expect, it } from 'vitest';
import { formatBytes } from './format-bytes.ts';

it.each([
  [0, '0 bayt'],
  [999, '999 bayt'],
  [1000, '1 kB'],
  [12_400_000_000, '12,4 GB'],
  [999_999_999_999, '1.000 GB'],
  [5e18, '5.000 PB'],
])('formatBytes formats %i bytes in Turkish as "%s"', (bytes, text) => {
  expect(formatBytes(bytes)).toBe(text);
});
