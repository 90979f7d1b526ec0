/**
 * Which files of a folder are one slide, where only their content tells: a DICOM series, a VMS slide. It is told once
 * for as long as the folder does not change, so that looking through it again costs nothing.
 */
import { createHash } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { hasSlideName, mayBeDicomByContent } from '../domain/slide-names.ts';
import type { SlideGroup } from '../slides/slides.ts';

/** A regular file, as a look at it says. */
export interface SeenFile {
  readonly name: string;
  readonly size: number;
  readonly mtimeMs: number;
}

/**
 * @param folder absolute path
 * @returns the slides among the files, those of one file too; null when that cannot be told now
 */
export type GroupFiles = (
  folder: string,
  files: readonly SeenFile[],
) => Promise<readonly SlideGroup[] | null>;

/** Reads files that nobody has checked, so in a process of its own; null when that cannot be done now. */
type LookInto = (folder: string, names: readonly string[]) => Promise<readonly SlideGroup[] | null>;

const maxKnown = 10_000;

export function createGroupFiles(lookInto: LookInto): GroupFiles {
  const known = new Map<string, { readonly signature: string; readonly slides: readonly SlideGroup[] }>();
  return async (folder, files) => {
    const signature = signatureOf(files);
    const before = known.get(folder);
    if (before?.signature === signature) return before.slides;
    const slides = await slidesAmong(folder, files, lookInto);
    if (slides === null) return null;
    if (known.size >= maxKnown) known.clear();
    known.set(folder, { signature, slides });
    return slides;
  };
}

function signatureOf(files: readonly SeenFile[]): string {
  const seen = files.map(({ name, size, mtimeMs }) => [name, size, mtimeMs]);
  return createHash('sha256').update(JSON.stringify(seen)).digest('base64url');
}

async function slidesAmong(
  folder: string,
  files: readonly SeenFile[],
  lookInto: LookInto,
): Promise<readonly SlideGroup[] | null> {
  const names: string[] = [];
  for (const { name } of files) {
    const isOther = mayBeDicomByContent(name) && !(await isDicomByContent(path.join(folder, name)));
    if (!isOther) names.push(name);
  }
  const groups = names.length > 1 ? await lookInto(folder, names) : [];
  if (groups === null) return null;
  const taken = new Set(groups.flatMap(({ leading, members }) => [leading, ...members]));
  const alone = names.filter((name) => !taken.has(name) && (hasSlideName(name) || mayBeDicomByContent(name)));
  return [...groups, ...alone.map((leading) => ({ leading, members: [] }))];
}

/** `DICM` after a preamble of 128 bytes (DICOM PS3.10 section 7.1). */
export async function isDicomByContent(file: string): Promise<boolean> {
  const handle = await fs.open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 128);
    return bytesRead === 4 && buffer.toString('latin1') === 'DICM';
  } finally {
    await handle.close();
  }
}
