import { describe, expect, it } from 'vitest';
import { hasSlideName, mayBeDicomByContent, unclaimed } from './slide-names.ts';

describe('a file in a slide folder', () => {
  it.each(['a.svs', 'A.SVS', 'a.ome.tif', 'a b.ome.tiff', 'x.ndpi', 'x.dcm', 'x.Jpeg', 'ü.mrxs'])(
    '%s is a slide by its name',
    (name) => expect(hasSlideName(name)).toBe(true),
  );

  it.each(['notes.txt', 'catalogue.csv', 'dataset.json', 'README', 'a.svs.part', 'svs', '.svs', 'a.tif.md5'])(
    '%s is none',
    (name) => expect(hasSlideName(name)).toBe(false),
  );

  it.each(['IM0001', '1.2.840.113619.2', '000001'])('%s may be DICOM', (name) =>
    expect(mayBeDicomByContent(name)).toBe(true),
  );

  it.each(['a.txt', 'Makefile.am'])('%s is never taken for DICOM', (name) =>
    expect(mayBeDicomByContent(name)).toBe(false),
  );
});

describe('a slide of several files', () => {
  it.each([
    [
      ['a.mrxs', 'a', 'b'],
      ['a.mrxs', 'b'],
    ],
    [
      ['a.vms', 'a.jpg', 'a(1,0).jpg', 'a_map2.jpg', 'z.jpg'],
      ['a.vms', 'z.jpg'],
    ],
    [
      ['a.vsi', '_a_', '_b_'],
      ['a.vsi', '_b_'],
    ],
    [
      ['a.svs', 'a.jpg'],
      ['a.svs', 'a.jpg'],
    ],
  ])('%j is seen as %j', (names, seen) => expect(unclaimed(names)).toEqual(seen));
});
