import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUploadPath, type NameFault } from './upload-names.ts';

describe('the name of what is sent', () => {
  it.each([
    ['slide-1.svs', ['slide-1.svs']],
    ['Seri 7/IM 0001.dcm', ['Seri 7', 'IM 0001.dcm']],
    ['Böbrek ışık.svs', ['Böbrek ışık.svs']],
    ['CONTROL.svs', ['CONTROL.svs']],
    ['1.2.840.10008', ['1.2.840.10008']],
  ])('may be %s', (path, names) => {
    expect(checkUploadPath(path)).toEqual({ names });
  });

  it('is the same however its letters are put together', () => {
    expect(checkUploadPath('Bo\u0308brek.svs')).toEqual({ names: ['Böbrek.svs'] });
  });

  it.each<[string, NameFault]>([
    ['', 'empty'],
    ['a//b.svs', 'empty'],
    ['a/', 'empty'],
    ['/etc/passwd', 'absolute'],
    ['\\\\server\\share', 'absolute'],
    ['C:\\slides\\a.svs', 'absolute'],
    ['..', 'hidden'],
    ['a/../b.svs', 'hidden'],
    ['./a.svs', 'hidden'],
    ['.hidden.svs', 'hidden'],
    ['a/.b/c.svs', 'hidden'],
    ['a\\b.svs', 'character'],
    ['a\0.svs', 'character'],
    ['a\nb.svs', 'character'],
    ['ab:c.svs', 'character'],
    ['what?.svs', 'character'],
    ['a\u202egnp.svs', 'character'],
    ['a\ud800.svs', 'character'],
    [' a.svs', 'edge'],
    ['a.svs ', 'edge'],
    ['a.', 'edge'],
    ['CON', 'reserved'],
    ['nul.svs', 'reserved'],
    ['a/LPT1.tif', 'reserved'],
    ['com¹.svs', 'reserved'],
    [`${'ş'.repeat(128)}`, 'long'],
    [`${'a'.repeat(250)}/${'b'.repeat(250)}/${'c'.repeat(250)}/${'d'.repeat(250)}`, 'long'],
    [`${'a/'.repeat(16)}b`, 'deep'],
  ])('may not be %j', (path, fault) => {
    expect(checkUploadPath(path)).toEqual({ fault });
  });

  it('whatever it is, leads to nowhere but below the folder it is put into', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '\0', ' ', ':', '․', '／') }),
        (path) => {
          const checked = checkUploadPath(path);
          if (!('names' in checked)) return;
          for (const name of checked.names) expect(name).toMatch(/^[^./\\\0:][^/\\\0:]*$/);
        },
      ),
    );
  });
});
