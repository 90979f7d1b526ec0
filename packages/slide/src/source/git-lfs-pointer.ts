const FIRST_LINE_START = 'version https://git-lfs.github.com/spec/';

/**
 * Recognises the text file that Git LFS leaves in place of a large file that was not fetched.
 *
 * Source: the Git LFS specification, "The Pointer".
 *
 * @param start the first bytes of the file
 */
export function isGitLfsPointer(start: Uint8Array): boolean {
  return Buffer.from(start.subarray(0, FIRST_LINE_START.length)).toString('latin1') === FIRST_LINE_START;
}
