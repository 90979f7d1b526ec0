import { describe, expect, it } from 'vitest';
import { groupFiles } from './group-uploads.ts';

const chosen = (...paths: readonly string[]) =>
  paths.map((path) => ({ path, file: new File(['12345'], path.split('/').at(-1) ?? '') }));

/** Each upload as `path: its files`; a single file as its path alone. */
function grouped(...paths: readonly string[]) {
  const { groups, refused } = groupFiles(chosen(...paths));
  return {
    uploads: groups.map(({ path, isFolder, files }) =>
      isFolder ? `${path}: ${files.map((each) => each.path).join(' ')}` : path,
    ),
    refused: refused.map(({ path, reason }) => `${path}: ${reason}`),
  };
}

describe('the grouping of chosen files into uploads', () => {
  it.each([
    ['slides, each by itself', ['a.svs', 'b.ndpi'], ['a.svs', 'b.ndpi']],
    ['a folder of such slides', ['Batch/a.svs', 'Batch/x/b.tif'], ['Batch/a.svs', 'Batch/x/b.tif']],
    ['a DICOM folder', ['S/1.dcm', 'S/2.dcm', 'S/notes.txt'], ['S: 1.dcm 2.dcm notes.txt']],
    ['a DICOM folder without endings', ['S/IM0001', 'S/IM0002'], ['S: IM0001 IM0002']],
    ['loose DICOM files', ['1.dcm', '2.dcm', 'a.svs'], ['1: 1.dcm 2.dcm', 'a.svs']],
    ['one DICOM file', ['1.dcm'], ['1.dcm']],
    [
      'an MRXS slide and its folder',
      ['A.mrxs', 'A/Slidedat.ini', 'A/Data0001.dat'],
      ['A: A.mrxs A/Slidedat.ini A/Data0001.dat'],
    ],
    ['an MRXS slide within a folder', ['F/A.mrxs', 'F/A/Index.dat'], ['F: A.mrxs A/Index.dat']],
    ['a VSI slide and its folder', ['A.vsi', '_A_/stack1/f.ets'], ['A: A.vsi _A_/stack1/f.ets']],
    ['a VMS slide', ['A.vms', 'A-1.jpg', 'A.opt'], ['A: A.vms A-1.jpg A.opt']],
  ])('are %s', (_, paths, uploads) => {
    expect(grouped(...paths)).toEqual({ uploads, refused: [] });
  });

  it('reports rejected files with the reason', () => {
    expect(grouped('notes.txt', 'A.mrxs', 'CON.svs', 'Batch/a.svs', 'Batch/list.csv')).toEqual({
      uploads: ['Batch/a.svs'],
      refused: [
        'CON.svs: upload_name_reserved',
        'A.mrxs: needsFolder',
        'notes.txt: noSlide',
        'Batch/list.csv: noSlide',
      ],
    });
  });

  it('rejects an empty slide', () => {
    const file = new File([], 'a.svs');
    expect(groupFiles([{ path: 'a.svs', file }]).refused).toEqual([{ path: 'a.svs', reason: 'nothing' }]);
  });

  it('ignores files that operating systems put into folders', () => {
    expect(grouped('S/1.dcm', 'S/.DS_Store', 'S/Thumbs.db', '__MACOSX/S/1.dcm', 'S/2.dcm')).toEqual({
      uploads: ['S: 1.dcm 2.dcm'],
      refused: [],
    });
  });

  it('adds up the bytes of each upload', () => {
    expect(groupFiles(chosen('S/1.dcm', 'S/2.dcm')).groups[0]?.sizeBytes).toBe(10);
  });
});
