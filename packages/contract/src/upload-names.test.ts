import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { checkUploadPath, type NameFault } from './upload-names.ts';

describe('checkUploadPath (checks the path of an uploaded file)', () => {
  it.each([
    ['slide-1.svs', ['slide-1.svs']],
    ['Seri 7/IM 0001.dcm', ['Seri 7', 'IM 0001.dcm']],
    ['Böbrek ışık.svs', ['Böbrek ışık.svs']],
    ['CONTROL.svs', ['CONTROL.svs']],
    ['1.2.840.10008', ['1.2.840.10008']],
  ])('accepts the path %s and returns its names %j', (path, names) => {
    expect(checkUploadPath(path)).toEqual({ names });
  });

  it('returns the name "Böbrek.svs" in Unicode NFC for a path whose ö is decomposed (NFD)', () => {
    expect(checkUploadPath('Bo\u0308brek.svs')).toEqual({ names: ['Böbrek.svs'] });
  });

  it.each<[string, NameFault]>([
    ['', 'upload_name_empty'],
    ['a//b.svs', 'upload_name_empty'],
    ['a/', 'upload_name_empty'],
    ['/etc/passwd', 'upload_name_absolute'],
    ['\\\\server\\share', 'upload_name_absolute'],
    ['C:\\slides\\a.svs', 'upload_name_absolute'],
    ['..', 'upload_name_hidden'],
    ['a/../b.svs', 'upload_name_hidden'],
    ['./a.svs', 'upload_name_hidden'],
    ['.hidden.svs', 'upload_name_hidden'],
    ['a/.b/c.svs', 'upload_name_hidden'],
    ['a\\b.svs', 'upload_name_character'],
    ['a\0.svs', 'upload_name_character'],
    ['a\nb.svs', 'upload_name_character'],
    ['ab:c.svs', 'upload_name_character'],
    ['what?.svs', 'upload_name_character'],
    ['a\ud800.svs', 'upload_name_character'],
    [' a.svs', 'upload_name_edge'],
    ['a.svs ', 'upload_name_edge'],
    ['a.', 'upload_name_edge'],
    ['CON', 'upload_name_reserved'],
    ['nul.svs', 'upload_name_reserved'],
    ['a/LPT1.tif', 'upload_name_reserved'],
    ['com¹.svs', 'upload_name_reserved'],
  ])('rejects the path %j with the reason %s', (path, fault) => {
    expect(checkUploadPath(path)).toEqual({ fault });
  });

  it.each<[string, string, NameFault]>([
    ['a RIGHT-TO-LEFT OVERRIDE character', 'a\u202egnp.svs', 'upload_name_character'],
    ['a name of 256 bytes (the limit is 255)', `${'ş'.repeat(128)}`, 'upload_name_long'],
    [
      'four names of 250 bytes each (the limit of the whole path is 900)',
      `${'a'.repeat(250)}/${'b'.repeat(250)}/${'c'.repeat(250)}/${'d'.repeat(250)}`,
      'upload_name_long',
    ],
    ['17 names (the limit is 16)', `${'a/'.repeat(16)}b`, 'upload_name_deep'],
  ])('rejects, with the reason $2, a path with %s', (_, path, fault) => {
    expect(checkUploadPath(path)).toEqual({ fault });
  });

  it.each([
    ['a name of 255 bytes, in letters of 1 byte', 'a'.repeat(255)],
    ['a name of 255 bytes, with letters of 2 bytes', `${'ş'.repeat(127)}a`],
    ['a name of 255 bytes, in letters of 3 bytes', '漢'.repeat(85)],
    ['a name of 254 bytes, with characters of 4 bytes', `${'🔬'.repeat(63)}ab`],
    ['a path of 900 bytes', `${`${'a'.repeat(224)}/`.repeat(3)}${'b'.repeat(225)}`],
    ['a path of 16 names', `${'a/'.repeat(15)}b`],
  ])('accepts %s, which the limits just allow', (_, path) => {
    expect(checkUploadPath(path)).toEqual({ names: path.split('/') });
  });

  it.each<[string, string, NameFault]>([
    ['a name of 256 bytes, in letters of 1 byte', 'a'.repeat(256), 'upload_name_long'],
    ['a name of 256 bytes, with letters of 3 bytes', `${'漢'.repeat(85)}a`, 'upload_name_long'],
    ['a name of 256 bytes, in characters of 4 bytes', '🔬'.repeat(64), 'upload_name_long'],
    ['a path of 901 bytes', `${`${'a'.repeat(224)}/`.repeat(3)}${'b'.repeat(226)}`, 'upload_name_long'],
  ])('rejects %s, which exceeds the limit by one byte', (_, path, fault) => {
    expect(checkUploadPath(path)).toEqual({ fault });
  });

  it('returns no name with a leading dot, a slash or a backslash for random paths, so that none leads outside the target folder', () => {
    fc.assert(
      fc.property(
        // The last two characters look like a dot and a slash.
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
