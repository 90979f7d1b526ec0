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

describe('withoutSlideExtension (removes the extension of a slide format)', () => {
  it.each([
    ['B26-1_HE.svslide', 'B26-1_HE'],
    ['B26-1_HE.QPTIFF', 'B26-1_HE'],
    ['B26-1_HE.ome.tif', 'B26-1_HE'],
    ['B26.1.HE.svs', 'B26.1.HE'],
    ['1.2.840.113619', '1.2.840.113619'], // a DICOM file may have no extension
  ])('returns for the file name "%s" the slide name "%s"', (fileName, name) => {
    expect(withoutSlideExtension(fileName)).toBe(name);
  });
});

describe('hasSlideName (whether a file name is that of a slide)', () => {
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
  ])('returns true for "%s"', (name) => {
    expect(hasSlideName(name)).toBe(true);
  });

  it.each([
    ...['notes.txt', 'catalogue.csv', 'dataset.json', 'README', 'a.svs.part', 'svs', '.svs', 'a.tif.md5'],
    'Thumbs.db',
  ])('returns false for "%s"', (name) => {
    expect(hasSlideName(name)).toBe(false);
  });
});

describe('mayBeDicom and mayBeDicomByContent (recognise possible DICOM files by their names)', () => {
  it.each(['IM0001', '1.2.840.113619.2', '000001'])(
    'return true for the file name "%s", which has no extension or is a DICOM UID',
    (name) => {
      expect([mayBeDicomByContent(name), mayBeDicom(name)]).toEqual([true, true]);
    },
  );

  it.each(['a.txt', 'Makefile.am', 'a.svs'])('return false for the file name "%s"', (name) => {
    expect([mayBeDicomByContent(name), mayBeDicom(name)]).toEqual([false, false]);
  });
});

describe('usuallyHasCompanions (whether a slide of this file name usually has several files; no extension may mean DICOM)', () => {
  it.each(['a.mrxs', 'a.vms', 'a.vmu', 'a.vsi', 'a.dcm', 'a.dicom', 'IM0001'])(
    'returns true for "%s"',
    (name) => {
      expect(usuallyHasCompanions(name)).toBe(true);
    },
  );

  it.each(['a.svs', 'a.tif', 'a.ome.tiff', 'a.txt', '.vsi'])('returns false for "%s"', (name) => {
    expect(usuallyHasCompanions(name)).toBe(false);
  });
});

describe('companionFolderOf (names the folder with the other files of a slide, in lower case)', () => {
  it.each([
    ['A.mrxs', 'a'],
    ['b.vsi', '_b_'],
  ])('returns for the slide file "%s" the folder name "%s"', (name, folder) => {
    expect(companionFolderOf(name)).toBe(folder);
  });

  it.each(['c.svs', '.vsi'])(
    'returns null for "%s", which is not the name of a slide with a companion folder',
    (name) => {
      expect(companionFolderOf(name)).toBeNull();
    },
  );
});

describe('listsItsCompanions (whether the file of a slide lists the other files of the slide)', () => {
  it.each([
    [true, 'a.VMS'],
    [true, 'a.vmu'],
    [false, 'a.mrxs'],
  ])('returns %s for the slide file "%s"', (isListing, name) => {
    expect(listsItsCompanions(name)).toBe(isListing);
  });
});

describe('withoutCompanionFolders (removes the folders that belong to slides from a list of names)', () => {
  it.each([
    ['removes the folder "a" of the slide "a.mrxs"', ['a.mrxs', 'a', 'b'], ['a.mrxs', 'b']],
    ['removes the folder "_a_" of the slide "a.vsi"', ['a.vsi', '_a_', '_b_'], ['a.vsi', '_b_']],
    [
      'keeps "a.jpg" beside "a.svs", because an .svs slide has no companion folder',
      ['a.svs', 'a.jpg'],
      ['a.svs', 'a.jpg'],
    ],
  ])('%s', (_, names, expected) => {
    expect(withoutCompanionFolders(names)).toEqual(expected);
  });
});

describe('filesToInspect (selects the files of a folder that must be read to group them into slides)', () => {
  it.each([
    [
      'only the DICOM files of a folder, with and without an extension',
      ['a.dcm', 'b.svs', 'c.DICOM', 'IM0001', 'd.tif'],
      ['a.dcm', 'c.DICOM', 'IM0001'],
    ],
    [
      'all files of a folder that contains a .vms file',
      ['a.vms', 'b.jpg', 'c.opt'],
      ['a.vms', 'b.jpg', 'c.opt'],
    ],
    [
      'the .tif, .Full and .tif-<digits>b files of a Trestle slide',
      ['a.tif', 'a.Full', 'a.tif-1b', 'b.png'],
      ['a.tif', 'a.Full', 'a.tif-1b'],
    ],
    [
      'no files for slides of a single file and slides with a companion folder',
      ['a.tif', 'a.jpg', 'b.svs', 'c.mrxs', 'd.vsi', 'e.ndpi'],
      [],
    ],
  ])('returns %s', (_, names, inspected) => {
    expect(filesToInspect(names)).toEqual(inspected);
  });
});
