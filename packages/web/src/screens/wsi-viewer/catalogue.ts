/**
 * The model of the catalogue's list: groups (one per dataset), their cases and images, the filters, and the layout of the
 * list as lines. The server sends only the groups and loads rows by position, so a list of 100,000 images stays cheap.
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
  /** Position of its first image in the list of all groups, one after the other. */
  readonly start: number;
  /** The images in cases are the first of the group, in the order of the cases; images without a case follow. */
  readonly cases: readonly CaseGroup[];
}

/** The images of a case in a group. */
export interface CaseGroup {
  /** Unique among the groups and cases. */
  readonly key: string;
  readonly name: string;
  /** Number of its images; at least 1. */
  readonly count: number;
  /** Position of its first image in the list of all groups. */
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
  /** Number of images in the list if it were chosen. */
  readonly count: number;
}

type Groups = ResponseOf<typeof listImageGroups>;

export function groupsOf({ groups }: Pick<Groups, 'groups'>): readonly DatasetGroup[] {
  let start = 0;
  return groups.map(({ dataset_name, images, cases = [] }) => {
    let caseStart = start;
    const group = {
      ...named(dataset_name),
      count: images,
      start,
      cases: cases.map((each) => {
        const caseGroup = { key: `case ${each.id}`, name: each.name, count: each.images, start: caseStart };
        caseStart += each.images;
        return caseGroup;
      }),
    };
    start += images;
    return group;
  });
}

export function choicesOf({ datasets, organs }: Pick<Groups, 'datasets' | 'organs'>): {
  readonly datasets: readonly Choice[];
  readonly organs: readonly Choice[];
} {
  return {
    datasets: datasets.map(({ dataset_name, images }) => ({ ...named(dataset_name), count: images })),
    organs: organs.map(({ organ_type, images }) => ({ ...named(organ_type), count: images })),
  };
}

function named(value: string | null): { readonly key: string; readonly name: string } {
  return { key: valueKey(value), name: value ?? texts.unknown };
}

/** Returns '-' for null and '=' with the name otherwise, so that a dataset called 'Unknown' differs from no dataset. */
function valueKey(value: string | null): string {
  return value === null ? '-' : `=${value}`;
}

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
  return isWhole
    ? ''
    : JSON.stringify([query, dataset ?? null, dataset === null, organ ?? null, organ === null]);
}

interface LineOf<Kind> {
  readonly kind: Kind;
  readonly index: number;
  readonly group: DatasetGroup;
  /** Index of the group's own line. */
  readonly title: number;
  /** Pixels from the top of the list. */
  readonly top: number;
}
/** A line that the person can open and close: a group or a case. */
interface BranchOf<Kind> extends LineOf<Kind> {
  readonly isOpen: boolean;
  /** Pixels, including the lines of its cases and images. */
  readonly height: number;
}
export type GroupLine = BranchOf<'group'>;
export type CaseLine = BranchOf<'case'> & { readonly slideCase: CaseGroup };
export type ImageLine = LineOf<'image'> & {
  /** Line of the image's case; null for an image without a case. */
  readonly caseLine: CaseLine | null;
  /** Index of the image in its case, or among the images of its group without a case; from 0. */
  readonly indexInBranch: number;
  /** Number of images in that case, or of the group's images without a case. */
  readonly count: number;
  /** Position of the image in the list of all groups. */
  readonly position: number;
};
export type Line = GroupLine | CaseLine | ImageLine;

/** Heights of the kinds of lines, in pixels. */
export interface LineHeights {
  readonly group: number;
  readonly case: number;
  readonly image: number;
}

/** All lines from top to bottom: every group, and the cases and images of open ones. They are computed on demand, because there may be 100,000. */
export interface ListLayout {
  readonly groups: readonly DatasetGroup[];
  readonly count: number;
  lineAt(index: number): Line | undefined;
  /** Index of the line at this many pixels from the top. */
  indexAtTop(top: number): number;
  /** Index of the line of a group or a case; -1 when there is none. */
  indexOfBranch(key: string): number;
  /** -1 when the group or the case of the image is closed. */
  indexOfPosition(position: number): number;
}

/** One line of a group or a case, or the lines of consecutive images. */
interface Block {
  readonly branch: GroupLine | CaseLine;
  /** Null when the block is the line of the group or case itself. */
  readonly images: { readonly caseLine: CaseLine | null; readonly count: number } | null;
  /** Index of the first line. */
  readonly first: number;
  /** Position of the first image of the block; for a group or case, of its first image. */
  readonly position: number;
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
      const { group, title } = block.branch;
      const { caseLine, count: of } = block.images;
      const top = block.top + indexInBranch * heights.image;
      return {
        kind: 'image',
        index,
        group,
        title,
        top,
        caseLine,
        indexInBranch,
        count: of,
        position: block.position + indexInBranch,
      };
    },
    indexAtTop(limit) {
      const block = lastBlock(limit, (each) => each.top);
      if (block === undefined) return -1;
      if (block.images === null) return block.first;
      const indexInBlock = Math.floor((limit - block.top) / heights.image);
      return block.first + Math.min(indexInBlock, block.images.count - 1);
    },
    indexOfBranch: (key) =>
      blocks.find(({ branch, images }) => images === null && branchOf(branch).key === key)?.first ?? -1,
    indexOfPosition(position) {
      const block = lastBlock(position, (each) => each.position);
      if (block?.images == null || position < 0 || position >= block.position + block.images.count) return -1;
      return block.first + position - block.position;
    },
  };
}

/** Returns the group or the case of a line. */
export function branchOf(line: GroupLine | CaseLine): DatasetGroup | CaseGroup {
  return line.kind === 'case' ? line.slideCase : line.group;
}

/** Returns the group of a position in the list of all groups. */
export function groupAt(groups: readonly DatasetGroup[], position: number): DatasetGroup | undefined {
  return groups.find(({ start, count }) => position >= start && position < start + count);
}

/** Returns the case of a position in its group; undefined for an image without a case. */
export function caseAt({ cases }: DatasetGroup, position: number): CaseGroup | undefined {
  return cases.find(({ start, count }) => position >= start && position < start + count);
}

/** The lines with the rows that are loaded. */
export interface CatalogueLines {
  readonly layout: ListLayout;
  imageOf(line: ImageLine): Image | undefined;
  /** The same key for the same group, case or image after a change of the catalogue; a row that is not loaded has that of its position. */
  keyAt(index: number): string | null;
  /** -1 when no line has the key. */
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

/** Lays out the groups one after the other: the group's line, each case with its images, then the images without a case. */
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
  const addImages = (branch: GroupLine | CaseLine, position: number, images: number) => {
    if (images === 0) return;
    const caseLine = branch.kind === 'case' ? branch : null;
    blocks.push({ branch, images: { caseLine, count: images }, first: count, position, top });
    count += images;
    top += images * heights.image;
  };
  for (const group of groups) {
    const title = count;
    const isGroupOpen = isOpen(group);
    const cases = isGroupOpen ? group.cases : [];
    const caseLines = cases.map((each) => ({ each, isCaseOpen: isOpen(each) }));
    const imagesInCases = cases.reduce((sum, each) => sum + each.count, 0);
    const imagesWithoutCase = isGroupOpen ? group.count - imagesInCases : 0;
    const heightOf = ({ each, isCaseOpen }: (typeof caseLines)[number]) =>
      heights.case + (isCaseOpen ? each.count * heights.image : 0);
    const height =
      heights.group +
      caseLines.reduce((sum, line) => sum + heightOf(line), 0) +
      imagesWithoutCase * heights.image;
    const groupLine: GroupLine = {
      kind: 'group',
      index: title,
      group,
      title,
      top,
      isOpen: isGroupOpen,
      height,
    };
    addBranch(groupLine);
    for (const line of caseLines) {
      const { each: slideCase, isCaseOpen } = line;
      const caseLine: CaseLine = {
        kind: 'case',
        index: count,
        group,
        title,
        top,
        isOpen: isCaseOpen,
        height: heightOf(line),
        slideCase,
      };
      addBranch(caseLine);
      if (isCaseOpen) addImages(caseLine, slideCase.start, slideCase.count);
    }
    addImages(groupLine, group.start + imagesInCases, imagesWithoutCase);
  }
  return { blocks, count };
}
