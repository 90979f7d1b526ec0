import { describe, expect, it } from 'vitest';
import {
  type CaseGroup,
  caseAt,
  choicesOf,
  type DatasetGroup,
  filterKey,
  groupAt,
  groupsOf,
  layOut,
  linesOf,
  listingOf,
  noFilter,
} from './catalogue.ts';
import { imageOf } from './testing/catalogue-server.ts';

/** Three groups; the names of the last two are equal, because images without a dataset are shown as Unknown. */
const groups = groupsOf({
  groups: [
    { dataset_name: 'A', images: 1 },
    { dataset_name: 'Unknown', images: 3 },
    { dataset_name: null, images: 2 },
  ],
});
/** Heights of lines in pixels. */
const heights = { group: 40, case: 30, image: 60 };
/** Opens only the second group. Its first image has the position 1. */
const isSecondGroup = ({ start }: DatasetGroup | CaseGroup) => start === 1;

describe('groupsOf (dataset groups of the image catalogue)', () => {
  it('returns for each group the position of its first image, which is the number of images in the groups before it', () => {
    expect(groups.map(({ name, count, start }) => [name, count, start])).toEqual([
      ['A', 1, 0],
      ['Unknown', 3, 1],
      ['Unknown', 2, 4],
    ]);
  });

  it('gives a dataset called Unknown a different key than the images without a dataset', () => {
    expect(groups[1]?.key).not.toBe(groups[2]?.key);
  });
});

describe('choicesOf (filter choices of the image catalogue)', () => {
  it('returns, for the choice "images without a dataset", the key that groupsOf returns for the group of these images', () => {
    const { datasets } = choicesOf({ datasets: [{ dataset_name: null, images: 2 }], organs: [] });
    expect(datasets).toEqual([{ key: groups[2]?.key, name: 'Unknown', count: 2 }]);
  });
});

describe('listingOf (query for the image catalogue)', () => {
  it('returns the trimmed search text, the name of the chosen dataset, and null as the organ when images without an organ are chosen', () => {
    const filter = { query: ' liver ', dataset: groups[1]?.key ?? '', organ: groups[2]?.key ?? '' };
    expect(listingOf(filter, 'newest')).toEqual({
      query: 'liver',
      dataset: 'Unknown',
      organ: null,
      order: 'newest',
    });
  });
});

describe('filterKey (filters of the image catalogue)', () => {
  it('returns an empty key only when neither search nor filter is set, and different keys for filters by dataset and by organ', () => {
    expect(filterKey(listingOf({ ...noFilter, query: '  ' }, 'name'))).toBe('');
    expect(filterKey(listingOf({ ...noFilter, query: 'x' }, 'name'))).not.toBe('');
    expect(filterKey(listingOf({ ...noFilter, dataset: '-' }, 'name'))).not.toBe(
      filterKey(listingOf({ ...noFilter, organ: '-' }, 'name')),
    );
  });
});

describe('groupAt (group of an image in the image catalogue; here groups of 1, 3 and 2 images)', () => {
  it.each([
    [0, 0],
    [1, 1],
    [3, 1],
    [4, 2],
    [5, 2],
    [6, undefined],
  ])(
    'for the image at position %i, returns the group with the index %s (undefined beyond the last image)',
    (position, index) => {
      expect(groupAt(groups, position)).toBe(index === undefined ? undefined : groups[index]);
    },
  );
});

describe('layOut (lines of the image catalogue)', () => {
  const layout = layOut(groups, isSecondGroup, heights);
  const lines = Array.from({ length: layout.count }, (_, index) => layout.lineAt(index));

  it('places the titles of all groups and the images of open groups below each other', () => {
    expect(lines.map((line) => [line?.kind, line?.groupLineIndex, line?.top])).toEqual([
      // kind, index of the title of the group, pixels from the top
      ['group', 0, 0],
      ['group', 1, 40],
      ['image', 1, 80],
      ['image', 1, 140],
      ['image', 1, 200],
      ['group', 5, 260],
    ]);
    expect(layout.lineAt(6)).toBeUndefined();
    expect(layout.lineAt(-1)).toBeUndefined();
  });

  it('returns a layout whose indexAtTop returns the line at a distance from the top, or the last line for a distance beyond the end', () => {
    for (const [index, line] of lines.entries()) {
      expect(layout.indexAtTop(line?.top ?? 0)).toBe(index);
      expect(layout.indexAtTop((line?.top ?? 0) + 39)).toBe(index); // still inside: the lowest line is 40 px high
    }
    expect(layout.indexAtTop(10_000)).toBe(5);
  });

  it('returns a layout whose indexOfPosition returns the line of an image in an open group, and -1 for an image in a closed group', () => {
    expect([0, 1, 2, 3, 4, 99, -1].map(layout.indexOfPosition)).toEqual([-1, 2, 3, 4, -1, -1, -1]);
  });

  it('returns no lines when there are no groups', () => {
    const empty = layOut([], isSecondGroup, heights);
    expect([empty.count, empty.lineAt(0), empty.indexAtTop(5), empty.indexOfPosition(0)]).toEqual([
      0,
      undefined,
      -1,
      -1,
    ]);
  });
});

describe('layOut and caseAt (lines of the image catalogue) for groups with cases', () => {
  /** Group A: case V-1 with 2 images, case V-2 with 1 image, and 1 image without a case. Group B: 1 image. */
  const groupsWithCases = groupsOf({
    groups: [
      {
        dataset_name: 'A',
        images: 4,
        cases: [
          { id: 'one', name: 'V-1', images: 2 },
          { id: 'two', name: 'V-2', images: 1 },
        ],
      },
      { dataset_name: 'B', images: 1 },
    ],
  });
  const layOutWhere = (isOpen: (branch: DatasetGroup | CaseGroup) => boolean) =>
    layOut(groupsWithCases, isOpen, heights);
  /** Returns the kind of each line, its name (or the position of its image), and its pixels from the top. */
  const linesIn = (layout: ReturnType<typeof layOut>) =>
    Array.from({ length: layout.count }, (_, index) => layout.lineAt(index)).map((line) => {
      const name = line?.kind === 'case' ? line.slideCase.name : line?.group.name;
      return [line?.kind, line?.kind === 'image' ? line.position : name, line?.top];
    });

  it('places the images of a case below the title of the case, and images without a case at the end of the group', () => {
    const layout = layOutWhere(({ name }) => name !== 'B');
    expect(linesIn(layout)).toEqual([
      ['group', 'A', 0],
      ['case', 'V-1', 40],
      ['image', 0, 70],
      ['image', 1, 130],
      ['case', 'V-2', 190],
      ['image', 2, 220],
      ['image', 3, 280],
      ['group', 'B', 340],
    ]);
    expect([0, 1, 2, 3, 4].map(layout.indexOfPosition)).toEqual([2, 3, 5, 6, -1]);
    const [groupLine, firstCase, , secondImage, , thirdImage, fourthImage] = [0, 1, 2, 3, 4, 5, 6].map(
      layout.lineAt,
    );
    const branchHeights = [groupLine, firstCase].map((line) => line?.kind !== 'image' && line?.height);
    expect(branchHeights).toEqual([40 + 2 * 30 + 4 * 60, 30 + 2 * 60]);
    /** Returns the index of the case's line, the index of the image in its case or group, and the number of images there. */
    const placeOf = (line: typeof groupLine) =>
      line?.kind === 'image' && [line.caseLine?.index ?? null, line.indexInBranch, line.count];
    expect([secondImage, thirdImage, fourthImage].map(placeOf)).toEqual([
      [1, 1, 2],
      [4, 0, 1],
      [null, 0, 1],
    ]);
  });

  it('leaves out the images of a closed case, and the cases of a closed group', () => {
    const layout = layOutWhere(({ name }) => name !== 'V-1' && name !== 'B');
    expect(linesIn(layout).map(([kind, nameOrPosition]) => `${kind} ${nameOrPosition}`)).toEqual([
      'group A',
      'case V-1',
      'case V-2',
      'image 2',
      'image 3',
      'group B',
    ]);
    expect([0, 1, 2].map(layout.indexOfPosition)).toEqual([-1, -1, 3]);
    expect(linesIn(layOutWhere(() => false)).map(([, name]) => name)).toEqual(['A', 'B']);
  });

  it('returns a layout whose indexAtTop finds the line at a distance from the top, and whose indexOfBranch finds the title of a group or case', () => {
    const layout = layOutWhere(() => true);
    for (let index = 0; index < layout.count; index++) {
      const line = layout.lineAt(index);
      expect(layout.indexAtTop((line?.top ?? 0) + 29)).toBe(index); // still inside: the lowest line is 30 px high
      expect(line?.index).toBe(index);
    }
    const [group] = groupsWithCases;
    const keys = [group?.key, group?.cases[1]?.key, 'no such key'].map((key) => key ?? '');
    expect(keys.map(layout.indexOfBranch)).toEqual([0, 4, -1]);
    const lines = linesOf(layout, { imageAt: () => undefined, positionOf: () => -1 });
    for (let index = 0; index < layout.count; index++) expect(lines.indexOf(lines.keyAt(index))).toBe(index);
  });

  it('caseAt returns the case of the image at a position, and undefined for an image without a case', () => {
    const [group] = groupsWithCases;
    const names = [0, 1, 2, 3].map((position) => group && caseAt(group, position)?.name);
    expect(names).toEqual(['V-1', 'V-1', 'V-2', undefined]);
  });
});

describe('linesOf (lines of the image catalogue)', () => {
  it('returns lines with unique keys, by which indexOf finds each line', () => {
    const image = imageOf({ id: '7' });
    const lines = linesOf(layOut(groups, isSecondGroup, heights), {
      imageAt: (position) => (position === 2 ? image : undefined),
      positionOf: (imageId) => (imageId === image.id ? 2 : -1),
    });
    const keys = [0, 1, 2, 3, 4, 5].map((index) => lines.keyAt(index));
    expect(keys[3]).toBe(image.id);
    expect(new Set(keys).size).toBe(6);
    expect(keys.map((key) => lines.indexOf(key))).toEqual([0, 1, 2, 3, 4, 5]);
    expect([lines.keyAt(6), lines.indexOf('no such key'), lines.indexOf(null)]).toEqual([null, -1, -1]);
  });
});
