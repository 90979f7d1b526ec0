import { describe, expect, it } from 'vitest';
import { folderNameOf, hasSlideName, mayBeDicomByContent, toLookInto, unclaimed } from './slide-names.ts';

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
      ['a.vsi', '_a_', '_b_'],
      ['a.vsi', '_b_'],
    ],
    [
      ['a.svs', 'a.jpg'],
      ['a.svs', 'a.jpg'],
    ],
  ])('%j is seen as %j', (names, seen) => expect(unclaimed(names)).toEqual(seen));

  it.each([
    ['A.mrxs', 'a'],
    ['b.vsi', '_b_'],
    ['c.svs', null],
    ['.vsi', null],
  ])('%s has the folder %s', (name, folder) => expect(folderNameOf(name)).toBe(folder));

  it.each([
    [
      'DICOM files, with and without an ending',
      ['a.dcm', 'b.svs', 'c.DICOM', 'IM0001', 'd.tif'],
      ['a.dcm', 'c.DICOM', 'IM0001'],
    ],
    ['all that may be named by a VMS file', ['a.vms', 'b.jpg', 'c.opt'], ['a.vms', 'b.jpg', 'c.opt']],
    ['a Trestle slide', ['a.tif', 'a.Full', 'a.tif-1b', 'b.png'], ['a.tif', 'a.Full', 'a.tif-1b']],
    ['nothing else', ['a.tif', 'a.jpg', 'b.svs', 'c.mrxs', 'd.vsi', 'e.ndpi'], []],
  ])('is told by looking into %s', (_, names, looked) => expect(toLookInto(names)).toEqual(looked));
});
