import { describe, expect, it } from 'vitest';
import { groupFiles } from './group-uploads.ts';

/** Returns chosen files of 5 bytes with these paths. */
const chosenFiles = (...paths: readonly string[]) =>
  paths.map((path) => ({ path, file: new File(['12345'], path.split('/').at(-1) ?? '') }));

/** Groups files with these paths. @returns uploads as `path: files` (a single file as its path), and rejected files as `path: reason` */
function groupPaths(...paths: readonly string[]) {
  const { groups, rejected } = groupFiles(chosenFiles(...paths));
  return {
    uploads: groups.map(({ path, isFolder, files }) =>
      isFolder ? `${path}: ${files.map((file) => file.path).join(' ')}` : path,
    ),
    rejected: rejected.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

describe('groupFiles (files chosen for upload)', () => {
  it.each([
    ['single-file slides become one upload each', ['a.svs', 'b.ndpi'], ['a.svs', 'b.ndpi']],
    [
      'single-file slides in a folder become one upload each',
      ['Batch/a.svs', 'Batch/x/b.tif'],
      ['Batch/a.svs', 'Batch/x/b.tif'],
    ],
    [
      'a folder with DICOM files becomes one upload',
      ['S/1.dcm', 'S/2.dcm', 'S/notes.txt'],
      ['S: 1.dcm 2.dcm notes.txt'],
    ],
    [
      'a folder of files without extensions, which may be DICOM, becomes one upload',
      ['S/IM0001', 'S/IM0002'],
      ['S: IM0001 IM0002'],
    ],
    [
      'DICOM files that were not chosen in a folder become one upload',
      ['1.dcm', '2.dcm', 'a.svs'],
      ['1: 1.dcm 2.dcm', 'a.svs'],
    ],
    ['a single DICOM file becomes one upload', ['1.dcm'], ['1.dcm']],
    [
      'an MRXS slide and its companion folder become one upload',
      ['A.mrxs', 'A/Slidedat.ini', 'A/Data0001.dat'],
      ['A: A.mrxs A/Slidedat.ini A/Data0001.dat'],
    ],
    [
      'a folder that contains an MRXS slide becomes one upload',
      ['F/A.mrxs', 'F/A/Index.dat'],
      ['F: A.mrxs A/Index.dat'],
    ],
    [
      'a VSI slide and its companion folder become one upload',
      ['A.vsi', '_A_/stack1/f.ets'],
      ['A: A.vsi _A_/stack1/f.ets'],
    ],
    [
      'a VMS slide and the files beside it become one upload',
      ['A.vms', 'A-1.jpg', 'A.opt'],
      ['A: A.vms A-1.jpg A.opt'],
    ],
  ])('groups chosen files so that %s', (_, paths, uploads) => {
    expect(groupPaths(...paths)).toEqual({ uploads, rejected: [] });
  });

  it('returns the reason why a file is rejected: not a slide, no companion folder, or a name that Windows reserves (CON)', () => {
    expect(groupPaths('notes.txt', 'A.mrxs', 'CON.svs', 'Batch/a.svs', 'Batch/list.csv')).toEqual({
      uploads: ['Batch/a.svs'],
      rejected: [
        'CON.svs: upload_name_reserved',
        'A.mrxs: needsFolder',
        'notes.txt: noSlide',
        'Batch/list.csv: noSlide',
      ],
    });
  });

  it('rejects a slide file of 0 bytes', () => {
    const file = new File([], 'a.svs');
    expect(groupFiles([{ path: 'a.svs', file }]).rejected).toEqual([{ path: 'a.svs', reason: 'nothing' }]);
  });

  it('ignores files that macOS and Windows create in folders (.DS_Store, __MACOSX, Thumbs.db)', () => {
    expect(groupPaths('S/1.dcm', 'S/.DS_Store', 'S/Thumbs.db', '__MACOSX/S/1.dcm', 'S/2.dcm')).toEqual({
      uploads: ['S: 1.dcm 2.dcm'],
      rejected: [],
    });
  });

  it('returns the sum of the file sizes of each upload', () => {
    expect(groupFiles(chosenFiles('S/1.dcm', 'S/2.dcm')).groups[0]?.sizeBytes).toBe(2 * 5);
  });
});
