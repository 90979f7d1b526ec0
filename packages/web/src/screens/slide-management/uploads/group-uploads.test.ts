import { describe, expect, it } from 'vitest';
import { groupFiles } from './group-uploads.ts';

const chosenFiles = (...paths: readonly string[]) =>
  paths.map((path) => ({ path, file: new File(['12345'], path.split('/').at(-1) ?? '') }));

/** Returns each upload of a folder as `path: files`, and each upload of a single file as its path. */
function groupPaths(...paths: readonly string[]) {
  const { groups, refused } = groupFiles(chosenFiles(...paths));
  return {
    uploads: groups.map(({ path, isFolder, files }) =>
      isFolder ? `${path}: ${files.map((file) => file.path).join(' ')}` : path,
    ),
    refused: refused.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

describe('groupFiles', () => {
  it.each([
    ['single-file slides: one upload each', ['a.svs', 'b.ndpi'], ['a.svs', 'b.ndpi']],
    [
      'a folder of single-file slides: one upload each',
      ['Batch/a.svs', 'Batch/x/b.tif'],
      ['Batch/a.svs', 'Batch/x/b.tif'],
    ],
    ['a DICOM folder', ['S/1.dcm', 'S/2.dcm', 'S/notes.txt'], ['S: 1.dcm 2.dcm notes.txt']],
    ['a DICOM folder without file extensions', ['S/IM0001', 'S/IM0002'], ['S: IM0001 IM0002']],
    ['DICOM files without a folder', ['1.dcm', '2.dcm', 'a.svs'], ['1: 1.dcm 2.dcm', 'a.svs']],
    ['one DICOM file', ['1.dcm'], ['1.dcm']],
    [
      'an MRXS slide and its folder',
      ['A.mrxs', 'A/Slidedat.ini', 'A/Data0001.dat'],
      ['A: A.mrxs A/Slidedat.ini A/Data0001.dat'],
    ],
    ['an MRXS slide within a folder', ['F/A.mrxs', 'F/A/Index.dat'], ['F: A.mrxs A/Index.dat']],
    ['a VSI slide and its folder', ['A.vsi', '_A_/stack1/f.ets'], ['A: A.vsi _A_/stack1/f.ets']],
    ['a VMS slide and its files', ['A.vms', 'A-1.jpg', 'A.opt'], ['A: A.vms A-1.jpg A.opt']],
  ])('combines the files of one slide into one upload: %s', (_, paths, uploads) => {
    expect(groupPaths(...paths)).toEqual({ uploads, refused: [] });
  });

  it('refuses files that are no slides, lack companions or have reserved names, and returns the reasons', () => {
    expect(groupPaths('notes.txt', 'A.mrxs', 'CON.svs', 'Batch/a.svs', 'Batch/list.csv')).toEqual({
      uploads: ['Batch/a.svs'],
      refused: [
        'CON.svs: upload_name_reserved',
        'A.mrxs: needsFolder',
        'notes.txt: noSlide',
        'Batch/list.csv: noSlide',
      ],
    });
  });

  it('refuses an empty slide file', () => {
    const file = new File([], 'a.svs');
    expect(groupFiles([{ path: 'a.svs', file }]).refused).toEqual([{ path: 'a.svs', reason: 'nothing' }]);
  });

  it('ignores files that operating systems create in folders', () => {
    expect(groupPaths('S/1.dcm', 'S/.DS_Store', 'S/Thumbs.db', '__MACOSX/S/1.dcm', 'S/2.dcm')).toEqual({
      uploads: ['S: 1.dcm 2.dcm'],
      refused: [],
    });
  });

  it('returns the sum of the file sizes of each upload', () => {
    expect(groupFiles(chosenFiles('S/1.dcm', 'S/2.dcm')).groups[0]?.sizeBytes).toBe(10);
  });
});
