const FIRST_LINE = 'version https://git-lfs.github.com/spec/';

/**
 * Git LFS keeps large files elsewhere and leaves a few lines of text in their places, under their names; where nobody
 * has fetched a slide, these are what is found.
 *
 * Source: the Git LFS specification, "The Pointer".
 */
export function isGitLfsPointer(start: Uint8Array): boolean {
  return Buffer.from(start.subarray(0, FIRST_LINE.length)).toString('latin1') === FIRST_LINE;
}
