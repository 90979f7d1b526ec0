import { expect, it } from 'vitest';
import { versionOfFile } from './fingerprint.ts';

const file = { dev: 41n, ino: 7n, size: 1000n, mtimeNs: 1_800_000_000_000_000_001n };

it('versionOfFile (version of a file, from its metadata) returns the same version if only the device number differs, as on machines with a shared file system', () => {
  expect(versionOfFile({ ...file, dev: 52n } as typeof file)).toBe(versionOfFile(file));
});

it.each([
  ['a replaced file', { ino: 8n }],
  ['a file that has grown', { size: 1001n }],
  ['a file that was modified one nanosecond later', { mtimeNs: file.mtimeNs + 1n }],
])('versionOfFile (version of a file, from its metadata) returns another version for %s', (_, change) => {
  expect(versionOfFile({ ...file, ...change })).not.toBe(versionOfFile(file));
});
