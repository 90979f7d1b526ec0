import { describe, expect, it } from 'vitest';
import {
  companionFolderOf,
  filesToInspect,
  hasSlideName,
  listsItsCompanions,
  mayBeDicom,
  mayBeDicomByContent,
  usuallyHasCompanions,
  withoutCompanionFolders,
  withoutSlideExtension,
} from './slide-names.ts';

describe('withoutSlideExtension (the name of a slide without the extension of its format)', () => {
  it.each([
    ['B26-1_HE.svslide', 'B26-1_HE'],
    ['B26-1_HE.QPTIFF', 'B26-1_HE'],
    ['B26-1_HE.ome.tif', 'B26-1_HE'],
    ['B26.1.HE.svs', 'B26.1.HE'],
    ['1.2.840.113619', '1.2.840.113619'], // a DICOM file may have no extension
  ])('returns for %s the name %s', (fileName, name) => {
    expect(withoutSlideExtension(fileName)).toBe(name);
  });
});

describe('hasSlideName (recognises slide files by their names)', () => {
  it.each([
    ...[
      'a.svs',
      'A.SVS',
      'a.ome.tif',
      'a b.ome.tiff',
      'x.btf',
      'x.ndpi',
      'x.scn',
      'x.bif',
      'x.svslide',
      'x.czi',
    ],
    ...['x.qptiff', 'x.jp2', 'x.Jpeg', 'x.png', 'ü.mrxs', 'x.vms', 'x.vmu', 'x.vsi', 'x.dcm', 'x.DICOM'],
  ])('returns true for %s', (name) => {
    expect(hasSlideName(name)).toBe(true);
  });

  it.each([
    ...['notes.txt', 'catalogue.csv', 'dataset.json', 'README', 'a.svs.part', 'svs', '.svs', 'a.tif.md5'],
    'Thumbs.db',
  ])('returns false for %s', (name) => {
    expect(hasSlideName(name)).toBe(false);
  });
});

describe('mayBeDicom and mayBeDicomByContent (recognise possible DICOM files by their names)', () => {
  it.each(['IM0001', '1.2.840.113619.2', '000001'])(
    'return true for %s, a name without an extension or a DICOM UID',
    (name) => {
      expect([mayBeDicomByContent(name), mayBeDicom(name)]).toEqual([true, true]);
    },
  );

  it.each(['a.txt', 'Makefile.am', 'a.svs'])('return false for the file name %s', (name) => {
    expect([mayBeDicomByContent(name), mayBeDicom(name)]).toEqual([false, false]);
  });
});

describe('companion files of a slide', () => {
  it.each(['a.mrxs', 'a.vms', 'a.vmu', 'a.vsi', 'a.dcm', 'a.dicom', 'IM0001'])(
    'are expected beside %s',
    (name) => {
      expect(usuallyHasCompanions(name)).toBe(true);
    },
  );

  it.each(['a.svs', 'a.tif', 'a.ome.tiff', 'a.txt', '.vsi'])('are not expected beside %s', (name) => {
    expect(usuallyHasCompanions(name)).toBe(false);
  });

  it.each([
    ['A.mrxs', 'a'],
    ['b.vsi', '_b_'],
    ['c.svs', null],
    ['.vsi', null],
  ])('of %s are in the folder %s (null if the format has no such folder)', (name, folder) => {
    expect(companionFolderOf(name)).toBe(folder);
  });

  it.each([
    ['a.VMS', true],
    ['a.vmu', true],
    ['a.mrxs', false],
  ])(
    'are listed in the file of the slide itself only for VMS and VMU: listsItsCompanions returns $1 for $0',
    (name, isListed) => {
      expect(listsItsCompanions(name)).toBe(isListed);
    },
  );
});

describe('withoutCompanionFolders (removes the folders that belong to slides from a list of names)', () => {
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
  ])('for the names %j returns %j', (names, expected) => {
    expect(withoutCompanionFolders(names)).toEqual(expected);
  });
});

describe('filesToInspect (selects the files of a folder that are read to group them to slides)', () => {
  it.each([
    [
      'DICOM files, with and without an extension',
      ['a.dcm', 'b.svs', 'c.DICOM', 'IM0001', 'd.tif'],
      ['a.dcm', 'c.DICOM', 'IM0001'],
    ],
    ['all files beside a VMS file', ['a.vms', 'b.jpg', 'c.opt'], ['a.vms', 'b.jpg', 'c.opt']],
    [
      'the files of a Trestle slide',
      ['a.tif', 'a.Full', 'a.tif-1b', 'b.png'],
      ['a.tif', 'a.Full', 'a.tif-1b'],
    ],
    [
      'nothing for slides of a single file and slides with a companion folder',
      ['a.tif', 'a.jpg', 'b.svs', 'c.mrxs', 'd.vsi', 'e.ndpi'],
      [],
    ],
  ])('returns %s', (_, names, inspected) => {
    expect(filesToInspect(names)).toEqual(inspected);
  });
});
