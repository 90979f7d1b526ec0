/**
 * Looks through a slide folder: which files are slides, and what the metadata files say of them.
 *
 * Regular files alone; links are followed as long as they stay below the root; hidden files and folders
 * are skipped.
 */
import type { Dirent } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from 'pino';
import { hasSlideName, isHidden, mayBeDicomByContent, unclaimed } from '../domain/slide-names.ts';
import { isNotThere } from '../slides/slide-roots.ts';
import {
  type FolderMetadata,
  isMetadataName,
  type MetadataProblem,
  readFolderMetadata,
  type SlideMetadata,
  slideMetadataOf,
} from './metadata-files.ts';

export interface FoundSlide extends SlideMetadata {
  /** Below the root, with forward slashes. */
  readonly path: string;
  readonly sizeBytes: number;
}

export interface Scan {
  readonly slides: readonly FoundSlide[];
  /** Metadata files that could not be used, by their path below the root. */
  readonly problems: readonly MetadataProblem[];
  /** Folders that could not be looked at this time; nothing is known of what lies below them. '' is the root. */
  readonly unread: readonly string[];
}

/** Deeper folders are not looked at. */
const maxDepth = 32;

/** A root that does not exist is the same as an empty one. */
export async function scanFolder(root: string, log: Logger): Promise<Scan> {
  const slides: FoundSlide[] = [];
  const problems: MetadataProblem[] = [];
  const unread: string[] = [];
  const visited = new Set<string>();

  async function walk(folder: string, above: readonly FolderMetadata[]): Promise<void> {
    const entries = await entriesOf(folder);
    if (entries === null) return;
    const metadata = await metadataOf(folder, entries);
    const chain = metadata === null ? above : [metadata, ...above];
    const candidates = new Set(unclaimed(entries.map(({ name }) => name)));
    for (const entry of entries) {
      if (!candidates.has(entry.name) || isHidden(entry.name)) continue;
      if (entry.name.includes('\ufffd')) {
        log.warn({ folder, name: entry.name }, 'a file whose name is not UTF-8 is left alone');
        continue;
      }
      await look(folder, entry, chain);
    }
  }

  async function look(folder: string, entry: Dirent, chain: readonly FolderMetadata[]): Promise<void> {
    const place = folder === '' ? entry.name : `${folder}/${entry.name}`;
    try {
      const target = await targetOf(place, entry);
      if (target === null) return;
      if (target.isFolder) {
        if (visited.has(target.path) || place.split('/').length > maxDepth) return;
        visited.add(target.path);
        await walk(place, chain);
      } else if (hasSlideName(entry.name) || (await isDicomByContent(entry.name, target.path))) {
        const { size } = await fs.stat(target.path);
        slides.push({ path: place, sizeBytes: size, ...slideMetadataOf(place, chain) });
      }
    } catch (error) {
      if (isNotThere(error)) return; // gone between listing and looking
      log.warn({ err: error, place }, 'a file could not be looked at');
      unread.push(place);
    }
  }

  /** @returns null when the folder is not there; what cannot be read now is noted as such */
  async function entriesOf(folder: string): Promise<Dirent[] | null> {
    try {
      const entries = await fs.readdir(path.join(root, folder), { withFileTypes: true });
      // Links last: a folder that can be reached twice is known by its own name.
      const byName = entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      return [
        ...byName.filter((entry) => !entry.isSymbolicLink()),
        ...byName.filter((entry) => entry.isSymbolicLink()),
      ];
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        log.warn({ err: error, folder }, 'a slide folder could not be read');
        unread.push(folder);
      }
      return null;
    }
  }

  /** A regular file or a folder, links followed; null for anything else and for what lies outside the root. */
  async function targetOf(
    place: string,
    entry: Dirent,
  ): Promise<{ readonly path: string; readonly isFolder: boolean } | null> {
    const full = path.join(realRoot, place);
    if (!entry.isSymbolicLink()) {
      if (entry.isDirectory()) return { path: await fs.realpath(full), isFolder: true };
      return entry.isFile() ? { path: full, isFolder: false } : null;
    }
    const target = await fs.realpath(full);
    if (!target.startsWith(realRoot + path.sep)) {
      log.warn({ place }, 'a link that leads out of the slide folder is left alone');
      return null;
    }
    const found = await fs.stat(target);
    if (found.isDirectory()) return { path: target, isFolder: true };
    return found.isFile() ? { path: target, isFolder: false } : null;
  }

  async function metadataOf(folder: string, entries: readonly Dirent[]): Promise<FolderMetadata | null> {
    const names = entries
      .filter((entry) => entry.isFile() && isMetadataName(entry.name))
      .map(({ name }) => name);
    if (names.length === 0) return null;
    const read = await readFolderMetadata(root, folder, names);
    problems.push(...read.problems);
    return read.metadata;
  }

  let realRoot: string;
  try {
    realRoot = await fs.realpath(root);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { slides, problems, unread };
    log.warn({ err: error }, 'a slide folder could not be read');
    return { slides, problems, unread: [''] };
  }
  visited.add(realRoot);
  await walk('', []);
  return { slides, problems, unread };
}

/** `DICM` after a preamble of 128 bytes (DICOM PS3.10 section 7.1). */
async function isDicomByContent(name: string, file: string): Promise<boolean> {
  if (!mayBeDicomByContent(name)) return false;
  const handle = await fs.open(file);
  try {
    const { bytesRead, buffer } = await handle.read(Buffer.alloc(4), 0, 4, 128);
    return bytesRead === 4 && buffer.toString('latin1') === 'DICM';
  } finally {
    await handle.close();
  }
}
