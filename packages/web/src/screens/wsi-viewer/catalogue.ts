/**
 * The model of the list in the viewer's catalogue: groups (one per dataset), their cases and images, the filters, and the layout of the
 * list as lines. The server sends all groups with their numbers of images, but sends images only in pages, by their positions in the
 * list of all images that match the search and the filters. A list of 100,000 images therefore stays cheap.
 *
 * The file is long because groups, images, filters and lines are one model.
 */
import type { Image, ImageOrder, listImageGroups, ResponseOf } from '@lamina/contract';
import type { ImageRows, Listing } from '../../api/catalogue.ts';
import { texts } from './texts.ts';

/** A group of the list: the images of a dataset, or the images without a dataset. */
export interface DatasetGroup {
  /** Unique among the groups, even when two have the same name. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all images, in which the groups follow one another; from 0. */
  readonly start: number;
  /** The images of the group begin with the images of these cases, in this order; images without a case follow. */
  readonly cases: readonly CaseGroup[];
}

/** The images of a case (slides that belong together) in a group. */
export interface CaseGroup {
  /** Unique among the groups and cases. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all images. */
  readonly start: number;
}

/** The search and the filters that a user has set. */
export interface CatalogueFilter {
  /** The search text as the user has typed it. */
  readonly query: string;
  /** Key of the chosen dataset, see `valueKey`; empty for all datasets. */
  readonly dataset: string;
  /** Key of the chosen organ, see `valueKey`; empty for all organs. */
  readonly organ: string;
}

export const noFilter: CatalogueFilter = { query: '', dataset: '', organ: '' };

/** A dataset or an organ that the catalogue can be filtered by. */
export interface Choice {
  readonly key: string;
  readonly name: string;
  /** Number of images in the list if this choice is selected and the search and the other filter stay as they are. */
  readonly count: number;
}

type GroupsResponse = ResponseOf<typeof listImageGroups>;

/** Returns the groups and cases of a response with their positions. A position is the number of images before the group or case. */
export function groupsOf({ groups }: Pick<GroupsResponse, 'groups'>): readonly DatasetGroup[] {
  let start = 0;
  return groups.map(({ dataset_name, images: imageCount, cases = [] }) => {
    let caseStart = start;
    const group = {
      ...keyAndNameOf(dataset_name),
      count: imageCount,
      start,
      cases: cases.map(({ id, name, images: count }) => {
        const caseGroup = { key: `case ${id}`, name, count, start: caseStart };
        caseStart += count;
        return caseGroup;
      }),
    };
    start += imageCount;
    return group;
  });
}

/** Returns the options of the filters by dataset and by organ. */
export function choicesOf({ datasets, organs }: Pick<GroupsResponse, 'datasets' | 'organs'>): {
  readonly datasets: readonly Choice[];
  readonly organs: readonly Choice[];
} {
  return {
    datasets: datasets.map(({ dataset_name, images }) => ({ ...keyAndNameOf(dataset_name), count: images })),
    organs: organs.map(({ organ_type, images }) => ({ ...keyAndNameOf(organ_type), count: images })),
  };
}

function keyAndNameOf(value: string | null): { readonly key: string; readonly name: string } {
  return { key: valueKey(value), name: value ?? texts.unknown };
}

/** Returns '-' for null and '=Liver' for 'Liver', so that a dataset called 'Unknown' and no dataset have different keys. */
function valueKey(value: string | null): string {
  return value === null ? '-' : `=${value}`;
}

/** Returns the parameters of the request for the list. A dataset or organ of null requests the images that have none. */
export function listingOf(filter: CatalogueFilter, order: ImageOrder): Listing {
  /** Inverse of `valueKey`; undefined when no filter is set. */
  const nameOf = (key: string) => {
    if (key === '') return undefined;
    return key === '-' ? null : key.slice(1);
  };
  return {
    query: filter.query.trim(),
    dataset: nameOf(filter.dataset),
    organ: nameOf(filter.organ),
    order,
  };
}

/** Returns a key of the search and the filters; empty for the whole catalogue. It does not depend on the order of the list. */
export function filterKey({ query, dataset, organ }: Listing): string {
  const isWhole = query === '' && dataset === undefined && organ === undefined;
  // JSON has no undefined: the booleans distinguish images without a dataset or organ (null) from no filter (undefined).
  return isWhole
    ? ''
    : JSON.stringify([query, dataset ?? null, dataset === null, organ ?? null, organ === null]);
}

/** What all kinds of lines have in common. */
interface LineOf<Kind> {
  readonly kind: Kind;
  /** Index of the line in the list. */
  readonly index: number;
  readonly group: DatasetGroup;
  /** Index of the line that is the title of the group. */
  readonly groupLineIndex: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}
/** The title line of a branch, which is a group or a case: the user can open and close it. */
interface BranchLineOf<Kind> extends LineOf<Kind> {
  readonly isOpen: boolean;
  /** Height in pixels, including the lines of its cases and images. */
  readonly height: number;
}
export type GroupLine = BranchLineOf<'group'>;
export type CaseLine = BranchLineOf<'case'> & { readonly slideCase: CaseGroup };
export type ImageLine = LineOf<'image'> & {
  /** Title line of the image's case; null for an image without a case. */
  readonly caseLine: CaseLine | null;
  /** Index of the image in its case, or among the images of its group without a case; from 0. */
  readonly indexInBranch: number;
  /** Number of images in its case, or of images without a case in its group. */
  readonly count: number;
  /** Position of the image in the list of all images. */
  readonly position: number;
};
export type Line = GroupLine | CaseLine | ImageLine;

/** Heights of the kinds of lines, in pixels. */
export interface LineHeights {
  readonly group: number;
  readonly case: number;
  readonly image: number;
}

/**
 * All lines from top to bottom: the titles of all groups, the titles of the cases in open groups, and the images in open groups and
 * cases. There may be 100,000 lines, so they are computed on demand.
 */
export interface ListLayout {
  readonly groups: readonly DatasetGroup[];
  /** Number of lines. */
  readonly count: number;
  /** The line with this index; undefined when there is none. */
  lineAt(index: number): Line | undefined;
  /** Index of the line at this distance in pixels from the top of the list; -1 when the list has no lines. */
  indexAtTop(distancePx: number): number;
  /** Index of the title line of a group or a case; -1 when there is none. */
  indexOfBranch(key: string): number;
  /** Index of the line of the image at a position; -1 when its group or its case is closed. */
  indexOfPosition(position: number): number;
}

/** Consecutive lines that are computed together: either the title of a group or a case, or the images of one of them. */
interface Block {
  readonly branch: GroupLine | CaseLine;
  /** Null when the block is the title of the group or case. */
  readonly images: { readonly caseLine: CaseLine | null; readonly count: number } | null;
  /** Index of the first line of the block. */
  readonly firstIndex: number;
  /** Position of the first image of the block; for a title, of the first image in the group or case. */
  readonly firstPosition: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}

/** Computes the layout of the list. @param isOpen returns whether a group or a case is open */
export function layOut(
  groups: readonly DatasetGroup[],
  isOpen: (branch: DatasetGroup | CaseGroup) => boolean,
  heights: LineHeights,
): ListLayout {
  const { blocks, count } = blocksOf(groups, isOpen, heights);
  /** Returns the last block with a start up to `limit`, else the first block. Uses binary search: the starts never decrease. */
  const findLastBlock = (limit: number, startOf: (block: Block) => number): Block | undefined => {
    let low = 0;
    let high = blocks.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      const block = blocks[middle];
      if (block !== undefined && startOf(block) <= limit) low = middle;
      else high = middle;
    }
    return blocks[low];
  };
  return {
    groups,
    count,
    lineAt(index) {
      if (index < 0 || index >= count) return undefined;
      const block = findLastBlock(index, ({ firstIndex }) => firstIndex);
      if (block === undefined || block.images === null) return block?.branch;
      const indexInBranch = index - block.firstIndex;
      const { group, groupLineIndex } = block.branch;
      const { caseLine, count: imageCount } = block.images;
      const top = block.top + indexInBranch * heights.image;
      return {
        kind: 'image',
        index,
        group,
        groupLineIndex,
        top,
        caseLine,
        indexInBranch,
        count: imageCount,
        position: block.firstPosition + indexInBranch,
      };
    },
    indexAtTop(distancePx) {
      const block = findLastBlock(distancePx, ({ top }) => top);
      if (block === undefined) return -1;
      if (block.images === null) return block.firstIndex;
      const indexInBlock = Math.floor((distancePx - block.top) / heights.image);
      return block.firstIndex + Math.min(indexInBlock, block.images.count - 1);
    },
    indexOfBranch: (key) =>
      blocks.find(({ branch, images }) => images === null && branchOf(branch).key === key)?.firstIndex ?? -1,
    indexOfPosition(position) {
      // A title has the same position as the first image after it, so the last block contains the image if its group and case are open.
      const block = findLastBlock(position, ({ firstPosition }) => firstPosition);
      if (block === undefined || block.images === null || position < 0) return -1;
      const indexInBlock = position - block.firstPosition;
      return indexInBlock < block.images.count ? block.firstIndex + indexInBlock : -1;
    },
  };
}

/** Returns the group or the case of a title line. */
export function branchOf(line: GroupLine | CaseLine): DatasetGroup | CaseGroup {
  return line.kind === 'case' ? line.slideCase : line.group;
}

/** Returns the group that contains the image at a position; undefined when there is none. */
export function groupAt(groups: readonly DatasetGroup[], position: number): DatasetGroup | undefined {
  return groups.find(({ start, count }) => position >= start && position < start + count);
}

/** Returns the case that contains the image at a position of the group; undefined for an image without a case. */
export function caseAt({ cases }: DatasetGroup, position: number): CaseGroup | undefined {
  return cases.find(({ start, count }) => position >= start && position < start + count);
}

/** The lines of the list together with the loaded images. */
export interface CatalogueLines {
  readonly layout: ListLayout;
  /** Returns the image of a line; undefined while it is not loaded. */
  imageOf(line: ImageLine): Image | undefined;
  /**
   * Returns the key of a line; null when there is no such line. A group, case or loaded image keeps its key when the catalogue changes.
   * The key of an image that is not loaded contains its position.
   */
  keyAt(index: number): string | null;
  /** Returns the index of the line with a key; -1 when there is none. */
  indexOf(key: string | null): number;
}

/** Prefixes of the keys of titles and of images that are not loaded; the key of a loaded image is its id. */
const branchPrefix = 'group ';
const rowPrefix = 'row ';

/** Combines the layout with the loaded rows. */
export function linesOf(layout: ListLayout, rows: ImageRows): CatalogueLines {
  return {
    layout,
    imageOf: ({ position }) => rows.imageAt(position),
    keyAt(index) {
      const line = layout.lineAt(index);
      if (line === undefined) return null;
      return line.kind !== 'image'
        ? `${branchPrefix}${branchOf(line).key}`
        : (rows.imageAt(line.position)?.id ?? `${rowPrefix}${line.position}`);
    },
    indexOf(key) {
      if (key === null) return -1;
      if (key.startsWith(branchPrefix)) return layout.indexOfBranch(key.slice(branchPrefix.length));
      const position = key.startsWith(rowPrefix) ? Number(key.slice(rowPrefix.length)) : rows.positionOf(key);
      return layout.indexOfPosition(position);
    },
  };
}

/** Lays out the groups one after the other, each with its title, its cases with their images, and then its images without a case. */
function blocksOf(
  groups: readonly DatasetGroup[],
  isOpen: (branch: DatasetGroup | CaseGroup) => boolean,
  heights: LineHeights,
): { readonly blocks: readonly Block[]; readonly count: number } {
  const blocks: Block[] = [];
  /** Number of lines so far, and their height in pixels. */
  let count = 0;
  let top = 0;
  const addBranch = (branch: GroupLine | CaseLine) => {
    blocks.push({ branch, images: null, firstIndex: count, firstPosition: branchOf(branch).start, top });
    count += 1;
    top += heights[branch.kind];
  };
  const addImages = (branch: GroupLine | CaseLine, firstPosition: number, imageCount: number) => {
    if (imageCount === 0) return;
    const caseLine = branch.kind === 'case' ? branch : null;
    blocks.push({ branch, images: { caseLine, count: imageCount }, firstIndex: count, firstPosition, top });
    count += imageCount;
    top += imageCount * heights.image;
  };
  for (const group of groups) {
    const groupLineIndex = count;
    const isGroupOpen = isOpen(group);
    const cases = isGroupOpen ? group.cases : [];
    const shownCases = cases.map((slideCase) => ({ slideCase, isCaseOpen: isOpen(slideCase) }));
    const imagesInCases = cases.reduce((sum, slideCase) => sum + slideCase.count, 0);
    const imagesWithoutCase = isGroupOpen ? group.count - imagesInCases : 0;
    const heightOf = ({ slideCase, isCaseOpen }: (typeof shownCases)[number]) =>
      heights.case + (isCaseOpen ? slideCase.count * heights.image : 0);
    const height =
      heights.group +
      shownCases.reduce((sum, shownCase) => sum + heightOf(shownCase), 0) +
      imagesWithoutCase * heights.image;
    const groupLine: GroupLine = {
      kind: 'group',
      index: groupLineIndex,
      group,
      groupLineIndex,
      top,
      isOpen: isGroupOpen,
      height,
    };
    addBranch(groupLine);
    for (const shownCase of shownCases) {
      const { slideCase, isCaseOpen } = shownCase;
      const caseLine: CaseLine = {
        kind: 'case',
        index: count,
        group,
        groupLineIndex,
        top,
        isOpen: isCaseOpen,
        height: heightOf(shownCase),
        slideCase,
      };
      addBranch(caseLine);
      if (isCaseOpen) addImages(caseLine, slideCase.start, slideCase.count);
    }
    addImages(groupLine, group.start + imagesInCases, imagesWithoutCase);
  }
  return { blocks, count };
}
