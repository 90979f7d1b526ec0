/**
 * The model of the catalogue's list: groups (one per dataset), their cases and images, the filters, and the layout of the
 * list as lines. The server sends all groups, but images only by their positions, so that a list of 100,000 images stays cheap.
 */
import type { Image, ImageOrder, listImageGroups, ResponseOf } from '@lamina/contract';
import type { ImageRows, Listing } from '../../api/catalogue.ts';
import { texts } from './texts.ts';

export interface DatasetGroup {
  /** Unique among the groups, also among those with the same name. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all images, in which the groups follow one another; from 0. */
  readonly start: number;
  /** The images of the group begin with those of the cases, in this order; images without a case follow. */
  readonly cases: readonly CaseGroup[];
}

/** The images of a case in a group. */
export interface CaseGroup {
  /** Unique among the groups and cases. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all images. */
  readonly start: number;
}

/** The search and the filters that a person has set. */
export interface CatalogueFilter {
  /** As typed. */
  readonly query: string;
  /** `valueKey` of a dataset; empty: all. */
  readonly dataset: string;
  /** `valueKey` of an organ; empty: all. */
  readonly organ: string;
}

export const noFilter: CatalogueFilter = { query: '', dataset: '', organ: '' };

/** A dataset or an organ that the catalogue can be filtered by. */
export interface Choice {
  readonly key: string;
  readonly name: string;
  /** Number of images that the list would contain with this filter. */
  readonly count: number;
}

type Groups = ResponseOf<typeof listImageGroups>;

/** Returns the groups and cases of a response with their positions, which are the sums of the numbers of images before them. */
export function groupsOf({ groups }: Pick<Groups, 'groups'>): readonly DatasetGroup[] {
  let start = 0;
  return groups.map(({ dataset_name, images, cases = [] }) => {
    let caseStart = start;
    const group = {
      ...keyAndNameOf(dataset_name),
      count: images,
      start,
      cases: cases.map(({ id, name, images: count }) => {
        const caseGroup = { key: `case ${id}`, name, count, start: caseStart };
        caseStart += count;
        return caseGroup;
      }),
    };
    start += images;
    return group;
  });
}

/** Returns the options of the two filters. */
export function choicesOf({ datasets, organs }: Pick<Groups, 'datasets' | 'organs'>): {
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

/** Returns '-' for null, otherwise '=' and the name, so that a dataset called 'Unknown' and no dataset have different keys. */
function valueKey(value: string | null): string {
  return value === null ? '-' : `=${value}`;
}

/** Returns the parameters of the request for the list. */
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

/** Returns the same key for lists with the same images; empty for the whole catalogue. */
export function filterKey({ query, dataset, organ }: Listing): string {
  const isWhole = query === '' && dataset === undefined && organ === undefined;
  // JSON has no undefined: the booleans distinguish images without a dataset or organ (null) from no filter (undefined).
  return isWhole
    ? ''
    : JSON.stringify([query, dataset ?? null, dataset === null, organ ?? null, organ === null]);
}

interface LineOf<Kind> {
  readonly kind: Kind;
  /** Index of the line in the list. */
  readonly index: number;
  readonly group: DatasetGroup;
  /** Index of the line of the group itself. */
  readonly groupLineIndex: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}
/** A line that the person can open and close: a group or a case. */
interface BranchOf<Kind> extends LineOf<Kind> {
  readonly isOpen: boolean;
  /** Height in pixels, including the lines of its cases and images. */
  readonly height: number;
}
export type GroupLine = BranchOf<'group'>;
export type CaseLine = BranchOf<'case'> & { readonly slideCase: CaseGroup };
export type ImageLine = LineOf<'image'> & {
  /** Line of the image's case; null for an image without a case. */
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

/** All lines from top to bottom: the groups, and the cases and images of open groups and cases. There may be 100,000 lines, so they are computed on demand. */
export interface ListLayout {
  readonly groups: readonly DatasetGroup[];
  /** Number of lines. */
  readonly count: number;
  lineAt(index: number): Line | undefined;
  /** Index of the line at this many pixels from the top. */
  indexAtTop(distance: number): number;
  /** Index of the line of a group or a case; -1 when there is none. */
  indexOfBranch(key: string): number;
  /** Index of the line of an image; -1 when its group or its case is closed. */
  indexOfPosition(position: number): number;
}

/** One line of a group or a case, or the lines of consecutive images. */
interface Block {
  readonly branch: GroupLine | CaseLine;
  /** Null when the block is the line of the group or case itself. */
  readonly images: { readonly caseLine: CaseLine | null; readonly count: number } | null;
  /** Index of the first line. */
  readonly first: number;
  /** Position of the first image of the block; for the line of a group or case, of the first image in it. */
  readonly position: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}

export function layOut(
  groups: readonly DatasetGroup[],
  isOpen: (branch: DatasetGroup | CaseGroup) => boolean,
  heights: LineHeights,
): ListLayout {
  const { blocks, count } = blocksOf(groups, isOpen, heights);
  /** Finds the last block whose start is at most `limit`, by binary search: starts increase from block to block. */
  const lastBlock = (limit: number, startOf: (block: Block) => number): Block | undefined => {
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
      const block = lastBlock(index, ({ first }) => first);
      if (block === undefined || block.images === null) return block?.branch;
      const indexInBranch = index - block.first;
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
        position: block.position + indexInBranch,
      };
    },
    indexAtTop(distance) {
      const block = lastBlock(distance, ({ top }) => top);
      if (block === undefined) return -1;
      if (block.images === null) return block.first;
      const indexInBlock = Math.floor((distance - block.top) / heights.image);
      return block.first + Math.min(indexInBlock, block.images.count - 1);
    },
    indexOfBranch: (key) =>
      blocks.find(({ branch, images }) => images === null && branchOf(branch).key === key)?.first ?? -1,
    indexOfPosition(position) {
      // The line of a group or case has the same position as the images after it, so the last block has the images if they are shown.
      const block = lastBlock(position, (candidate) => candidate.position);
      if (block?.images == null || position < 0 || position >= block.position + block.images.count) return -1;
      return block.first + position - block.position;
    },
  };
}

/** Returns the group or the case of a line. */
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
  /** Undefined while the image is not loaded. */
  imageOf(line: ImageLine): Image | undefined;
  /** Returns a key that the group, case or image keeps when the catalogue changes. The key of an image that is not loaded is made of its position. */
  keyAt(index: number): string | null;
  /** Returns the index of the line with a key; -1 when there is none. */
  indexOf(key: string | null): number;
}

const branchPrefix = 'group ';
const rowPrefix = 'row ';

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

/** Lays out the groups one after the other, each with its line, its cases with their images, and then its images without a case. */
function blocksOf(
  groups: readonly DatasetGroup[],
  isOpen: (branch: DatasetGroup | CaseGroup) => boolean,
  heights: LineHeights,
): { readonly blocks: readonly Block[]; readonly count: number } {
  const blocks: Block[] = [];
  let count = 0;
  let top = 0;
  const addBranch = (branch: GroupLine | CaseLine) => {
    blocks.push({ branch, images: null, first: count, position: branchOf(branch).start, top });
    count += 1;
    top += heights[branch.kind];
  };
  const addImages = (branch: GroupLine | CaseLine, position: number, imageCount: number) => {
    if (imageCount === 0) return;
    const caseLine = branch.kind === 'case' ? branch : null;
    blocks.push({ branch, images: { caseLine, count: imageCount }, first: count, position, top });
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
