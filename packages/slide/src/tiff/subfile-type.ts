/** Reads the TIFF tag NewSubfileType, which marks an image as a reduced version of another one, as a mask, or as both. */
import type { TiffDirectory } from './directory.ts';
import { tag } from './tags.ts';

/** Bits of NewSubfileType; without the tag, none is set. Source: TIFF 6.0, section 8. */
const REDUCED = 1;
const MASK = 4;

/** Whether a directory is a reduced image; false for a reduced mask. @throws SlideError FILE_CORRUPT, FILE_TRUNCATED */
export async function isReduced(directory: TiffDirectory): Promise<boolean> {
  return ((await readSubfileType(directory)) & (REDUCED | MASK)) === REDUCED;
}

/** Whether a directory is a transparency mask of another image, reduced or not. @throws like `isReduced` */
export async function isMask(directory: TiffDirectory): Promise<boolean> {
  return ((await readSubfileType(directory)) & MASK) !== 0;
}

async function readSubfileType(directory: TiffDirectory): Promise<number> {
  return (await directory.number(tag.NewSubfileType)) ?? 0;
}
