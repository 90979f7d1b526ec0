/**
 * Patches of a file: the bytes that a de-identified copy replaces. The copy has the same length as the file, so a
 * server that sends a part of the copy reads and patches only the bytes of this part.
 */
import { NumberList } from './number-list.ts';

/** A part of a file whose bytes are replaced. */
export interface Patch {
  /** Position in the file. */
  readonly offset: number;
  readonly length: number;
  /** The new bytes, exactly `length`; if absent, the part is filled with zeros. */
  readonly bytes?: Uint8Array;
}

/** Patches in the order of their positions, without overlaps. */
export type PatchList = readonly Patch[];

/** The changes that make a de-identified copy of a file. */
export interface Deidentification {
  readonly patches: PatchList;
  /** Positions of the JPEG streams of the copy in ascending order; their comments are erased while they are read. */
  readonly jpegStreams: Float64Array;
}

/** Maximum number of patches. A file that exceeds it is not de-identified: the patches of a download are kept in memory. */
export const maxPatches = 1_000_000;

/** Applies the patches to a part of the file, in place. @param start position of the part in the file */
export function applyPatches(patches: PatchList, part: Uint8Array, start: number): void {
  const end = start + part.length;
  const endOf = (patch: Patch | undefined) => (patch === undefined ? 0 : patch.offset + patch.length);
  for (
    let i = firstIndexWhere(patches.length, (index) => endOf(patches[index]) > start);
    i < patches.length;
    i++
  ) {
    const patch = patches[i];
    if (patch === undefined || patch.offset >= end) return;
    const overlapStart = Math.max(patch.offset, start);
    const overlapEnd = Math.min(endOf(patch), end);
    if (patch.bytes === undefined) part.fill(0, overlapStart - start, overlapEnd - start);
    else
      part.set(
        patch.bytes.subarray(overlapStart - patch.offset, overlapEnd - patch.offset),
        overlapStart - start,
      );
  }
}

/**
 * Returns the index of the first element of a list for which a condition holds, by binary search; `length` if there is none.
 *
 * @param holds the condition by index; if it holds for an element, it holds for all later ones
 */
export function firstIndexWhere(length: number, holds: (index: number) => boolean): number {
  let [low, high] = [0, length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A part of a file. */
export interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Collects the parts of a file that a copy keeps. */
export class KeptRanges {
  readonly #starts = new NumberList();
  readonly #ends = new NumberList();

  keep(offset: number, length: number): void {
    if (!(length > 0)) return;
    // Most tiles follow the tile before them, so most parts extend the one before them.
    const previousEnd = this.#ends.last();
    if (offset >= this.#starts.last() && offset <= previousEnd) {
      this.#ends.replaceLast(Math.max(previousEnd, offset + length));
      return;
    }
    this.#starts.push(offset);
    this.#ends.push(offset + length);
  }

  /**
   * Returns the parts of the file that are not kept, in the order of their positions.
   *
   * @param size length of the file
   * @throws NotDeidentifiable when there are more than `maxPatches`
   */
  gaps(size: number): Range[] {
    const gaps: Range[] = [];
    const add = (offset: number, end: number) => {
      if (end <= offset) return;
      if (gaps.length === maxPatches) throw new NotDeidentifiable('the file has too many unused parts');
      gaps.push({ offset, length: end - offset });
    };
    // Starts and ends are sorted separately. Before `starts[i + 1]`, exactly i + 1 parts begin. If `ends[i]` is before it too, all of
    // these parts have ended, so no part covers the bytes from `ends[i]` to `starts[i + 1]`.
    const starts = this.#starts.sorted();
    const ends = this.#ends.sorted();
    add(0, starts[0] ?? size);
    for (let i = 0; i < ends.length; i++) add(ends[i] ?? size, starts[i + 1] ?? size);
    return gaps;
  }
}

/**
 * Joins replacements and ranges of zeros into a sorted list without overlaps. Where a replacement and a range of zeros
 * overlap, the replacement is used.
 *
 * @param zeros sorted ranges that do not overlap each other
 * @throws NotDeidentifiable when two replacements overlap that are neither identical nor zeros, and for more than `maxPatches`
 */
export function mergePatches(replacements: readonly Patch[], zeros: readonly Range[]): Patch[] {
  const sorted = withoutOverlaps(replacements);
  const merged: Patch[] = [...sorted];
  /** Index in `sorted`. All replacements before this index end at or before `uncovered`. */
  let nextIndex = 0;
  for (const { offset, length } of zeros) {
    const end = offset + length;
    /** Start of the part of the range that is not yet covered. */
    let uncovered = offset;
    for (;;) {
      const patch = sorted[nextIndex];
      if (patch !== undefined && patch.offset + patch.length <= uncovered) {
        nextIndex++;
        continue;
      }
      if (patch === undefined || patch.offset >= end) break;
      if (patch.offset > uncovered) merged.push({ offset: uncovered, length: patch.offset - uncovered });
      uncovered = patch.offset + patch.length;
      if (uncovered >= end) break;
    }
    if (uncovered < end) merged.push({ offset: uncovered, length: end - uncovered });
  }
  if (merged.length > maxPatches) throw new NotDeidentifiable('the file has too many patches');
  return merged.sort((a, b) => a.offset - b.offset);
}

/** Sorts replacements and joins duplicates, because directories may share a value. @throws NotDeidentifiable like `mergePatches` */
function withoutOverlaps(replacements: readonly Patch[]): Patch[] {
  const sorted: Patch[] = [];
  for (const patch of replacements.toSorted((a, b) => a.offset - b.offset)) {
    const previous = sorted.at(-1);
    if (previous === undefined || patch.offset >= previous.offset + previous.length) sorted.push(patch);
    else sorted[sorted.length - 1] = joinPatches(previous, patch);
  }
  return sorted;
}

/** Joins two overlapping replacements; `previous` begins first. @throws NotDeidentifiable unless both are zeros or they are equal */
function joinPatches(previous: Patch, patch: Patch): Patch {
  if (previous.bytes === undefined && patch.bytes === undefined) {
    const end = Math.max(previous.offset + previous.length, patch.offset + patch.length);
    return { offset: previous.offset, length: end - previous.offset };
  }
  const isSame =
    previous.offset === patch.offset &&
    previous.bytes !== undefined &&
    patch.bytes !== undefined &&
    Buffer.compare(previous.bytes, patch.bytes) === 0;
  if (!isSame) throw new NotDeidentifiable('two values of the file overlap');
  return patch;
}

/** Thrown when a file cannot be de-identified with certainty; the message states the reason. */
export class NotDeidentifiable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotDeidentifiable';
  }
}
