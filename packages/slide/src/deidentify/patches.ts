/** Patches of a file: which of its bytes a de-identified copy replaces. The copy has the length of the file. */

/** A replaced part of a file. */
export interface Patch {
  readonly at: number;
  readonly length: number;
  /** The new bytes, as many as `length`; absent: zeros. */
  readonly bytes?: Uint8Array;
}

/** In the order of the file, without overlaps. */
export type PatchList = readonly Patch[];

/** Replaces the bytes of a part of the file that starts at `start`. */
export function applyPatches(patches: PatchList, part: Uint8Array, start: number): void {
  const end = start + part.length;
  for (let i = firstAfter(patches, start); i < patches.length; i++) {
    const patch = patches[i];
    if (patch === undefined || patch.at >= end) return;
    const from = Math.max(patch.at, start);
    const to = Math.min(patch.at + patch.length, end);
    if (patch.bytes === undefined) part.fill(0, from - start, to - start);
    else part.set(patch.bytes.subarray(from - patch.at, to - patch.at), from - start);
  }
}

/** Returns the index of the first patch that ends after the position. */
function firstAfter(patches: PatchList, at: number): number {
  let [low, high] = [0, patches.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    const patch = patches[middle];
    if (patch !== undefined && patch.at + patch.length <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

interface Range {
  readonly at: number;
  readonly length: number;
}

/** Collects the parts of a file that a copy keeps. */
export class KeptRanges {
  readonly #ranges: Range[] = [];

  keep(at: number, length: number): void {
    if (length > 0) this.#ranges.push({ at, length });
  }

  /** Returns the parts of the file that are not kept, in order. */
  rest(size: number): Range[] {
    const rest: Range[] = [];
    let end = 0;
    for (const { at, length } of this.#ranges.toSorted((one, other) => one.at - other.at)) {
      if (at > end) rest.push({ at: end, length: at - end });
      end = Math.max(end, at + length);
    }
    if (end < size) rest.push({ at: end, length: size - end });
    return rest;
  }
}

/**
 * Sorts patches and removes overlaps: where two of them cover a byte, the one with new bytes wins over zeros.
 *
 * @param replacements without overlaps among each other
 * @param zeros without overlaps among each other
 */
export function mergePatches(replacements: readonly Patch[], zeros: readonly Range[]): Patch[] {
  const sorted = replacements.toSorted((one, other) => one.at - other.at);
  const merged: Patch[] = [...sorted];
  let next = 0;
  for (const { at, length } of zeros) {
    const end = at + length;
    let from = at;
    for (;;) {
      const patch = sorted[next];
      if (patch !== undefined && patch.at + patch.length <= from) {
        next++;
        continue;
      }
      if (patch === undefined || patch.at >= end) break;
      if (patch.at > from) merged.push({ at: from, length: patch.at - from });
      from = patch.at + patch.length;
      if (from >= end) break;
    }
    if (from < end) merged.push({ at: from, length: end - from });
  }
  return merged.sort((one, other) => one.at - other.at);
}

/** The file cannot be de-identified with certainty. */
export class NotDeidentifiable extends Error {
  constructor(reason: string) {
    super(reason);
    this.name = 'NotDeidentifiable';
  }
}
