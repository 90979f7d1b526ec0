/**
 * Patches of a file: the bytes that a de-identified copy replaces. The copy has the same length as the file, so a
 * server that sends a part of the copy reads and patches only the bytes of this part.
 */

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

/** Applies the patches to a part of the file, in place. @param start position of the part in the file */
export function applyPatches(patches: PatchList, part: Uint8Array, start: number): void {
  const end = start + part.length;
  for (let i = indexOfFirstPatchEndingAfter(patches, start); i < patches.length; i++) {
    const patch = patches[i];
    if (patch === undefined || patch.offset >= end) return;
    const overlapStart = Math.max(patch.offset, start);
    const overlapEnd = Math.min(patch.offset + patch.length, end);
    if (patch.bytes === undefined) part.fill(0, overlapStart - start, overlapEnd - start);
    else
      part.set(
        patch.bytes.subarray(overlapStart - patch.offset, overlapEnd - patch.offset),
        overlapStart - start,
      );
  }
}

/** Returns the index of the first patch that ends after the position, by binary search. */
function indexOfFirstPatchEndingAfter(patches: PatchList, position: number): number {
  let [low, high] = [0, patches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const patch = patches[middle];
    if (patch !== undefined && patch.offset + patch.length <= position) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Range {
  readonly offset: number;
  readonly length: number;
}

/** Collects the parts of a file that a copy keeps. */
export class KeptRanges {
  readonly #ranges: Range[] = [];

  keep(offset: number, length: number): void {
    if (length > 0) this.#ranges.push({ offset, length });
  }

  /** Returns the parts of the file that are not kept, in the order of their positions. @param size length of the file */
  gaps(size: number): Range[] {
    const gaps: Range[] = [];
    let keptEnd = 0;
    for (const { offset, length } of this.#ranges.toSorted((a, b) => a.offset - b.offset)) {
      if (offset > keptEnd) gaps.push({ offset: keptEnd, length: offset - keptEnd });
      keptEnd = Math.max(keptEnd, offset + length);
    }
    if (keptEnd < size) gaps.push({ offset: keptEnd, length: size - keptEnd });
    return gaps;
  }
}

/**
 * Joins replacements and ranges of zeros into a sorted list without overlaps. Where a replacement and a range of zeros
 * overlap, the replacement is used.
 *
 * @param replacements patches that do not overlap each other
 * @param zeros sorted ranges that do not overlap each other
 */
export function mergePatches(replacements: readonly Patch[], zeros: readonly Range[]): Patch[] {
  const sorted = replacements.toSorted((a, b) => a.offset - b.offset);
  const merged: Patch[] = [...sorted];
  /** Index in `sorted`: the replacements before it end at or before `uncovered`. */
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
  return merged.sort((a, b) => a.offset - b.offset);
}

/** Thrown when a file cannot be de-identified with certainty; the message states the reason. */
export class NotDeidentifiable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotDeidentifiable';
  }
}
