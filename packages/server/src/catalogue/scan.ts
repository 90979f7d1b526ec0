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
import {
  folderNameOf,
  hasSlideName,
  isHidden,
  mayBeDicomByContent,
  toLookInto,
  unclaimed,
} from '../domain/slide-names.ts';
import { isNotThere } from '../slides/slide-roots.ts';
import { type GroupFiles, isDicomByContent, type SeenFile } from './group-files.ts';
import {
  type FolderMetadata,
  isMetadataName,
  type MetadataProblem,
  readFolderMetadata,
  type SlideMetadata,
  slideMetadataOf,
} from './metadata-files.ts';

export interface FoundSlide extends SlideMetadata {
  /** Below the root, with forward slashes. Of a slide of several files, the leading one. */
  readonly path: string;
  /** The other files, by name; one that ends with a slash is a folder. */
  readonly members: readonly string[];
  /** Of all files of the slide. */
  readonly sizeBytes: number;
}

export interface Scan {
  readonly slides: readonly FoundSlide[];
  /** Metadata files that could not be used, by their path below the root. */
  readonly problems: readonly MetadataProblem[];
  /** Folders that could not be looked at this time; nothing is known of what lies below them. '' is the root. */
  readonly unread: readonly string[];
}

/** A file or a folder below the root, all links followed. */
interface Target {
  readonly name: string;
  /** Absolute. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly isLink: boolean;
}

/** Deeper folders are not looked at. */
const maxDepth = 32;

/** A root that does not exist is the same as an empty one. */
export async function scanFolder(root: string, groupFiles: GroupFiles, log: Logger): Promise<Scan> {
  const slides: FoundSlide[] = [];
  const problems: MetadataProblem[] = [];
  const unread: string[] = [];
  const visited = new Set<string>();

  async function walk(folder: string, above: readonly FolderMetadata[]): Promise<void> {
    const entries = await entriesOf(folder);
    if (entries === null) return;
    const metadata = await metadataOf(folder, entries);
    const chain = metadata === null ? above : [metadata, ...above];
    const names = entries.map(({ name }) => name).filter((name) => !isHidden(name));
    const candidates = new Set(unclaimed(names));
    const together = new Set(toLookInto(names));
    const targets: Target[] = [];
    for (const entry of entries) {
      const { name } = entry;
      if (isHidden(name)) continue;
      if (name.includes('\ufffd')) {
        log.warn({ folder, name }, 'a file whose name is not UTF-8 is left alone');
        continue;
      }
      if (!candidates.has(name) && !together.has(name) && !entry.isDirectory()) continue;
      const target = await unlessGone(placeOf(folder, name), () => targetOf(folder, entry));
      if (target !== null) targets.push(target);
    }
    await takeFiles(folder, targets, candidates, together, chain);
    for (const { name, path: real, isFolder } of targets) {
      const place = placeOf(folder, name);
      const isOfDepth = place.split('/').length <= maxDepth;
      if (!isFolder || !candidates.has(name) || visited.has(real) || !isOfDepth) continue;
      visited.add(real);
      await walk(place, chain);
    }
  }

  async function takeFiles(
    folder: string,
    targets: readonly Target[],
    candidates: ReadonlySet<string>,
    together: ReadonlySet<string>,
    chain: readonly FolderMetadata[],
  ): Promise<void> {
    const take = (name: string, members: readonly string[], sizeBytes: number) => {
      const place = placeOf(folder, name);
      slides.push({ path: place, members, sizeBytes, ...slideMetadataOf(place, chain) });
    };
    const folders = new Map(
      targets.flatMap(({ name, isFolder, isLink }) =>
        isFolder && !isLink ? [[name.toLowerCase(), name]] : [],
      ),
    );
    const seen = new Map<string, SeenFile>();
    for (const { name, path: real, isFolder, isLink } of targets) {
      if (isFolder) continue;
      await unlessGone(placeOf(folder, name), async () => {
        // The files of a slide are looked for beside its leading one, so a link is no part of one of several.
        if (together.has(name) && !isLink) {
          const { size, mtimeMs } = await fs.stat(real);
          seen.set(name, { name, size, mtimeMs });
        } else if (
          candidates.has(name) &&
          (hasSlideName(name) || (mayBeDicomByContent(name) && (await isDicomByContent(real))))
        ) {
          const { size } = await fs.stat(real);
          const own = isLink ? undefined : folders.get(folderNameOf(name) ?? '');
          const more = own === undefined ? 0 : await bytesBelow(path.join(path.dirname(real), own));
          take(name, own === undefined ? [] : [`${own}/`], size + more);
        }
      });
    }
    if (seen.size === 0) return;
    await unlessGone(folder, async () => {
      const groups = await groupFiles(path.join(realRoot, folder), [...seen.values()]);
      if (groups === null) unread.push(folder);
      for (const { leading, members } of groups ?? []) {
        // Whoever tells has read files that anyone may have written: it is believed about the files it was shown.
        const files = [leading, ...members].flatMap((name) => seen.get(name) ?? []);
        if (files.length <= members.length || (members.length === 0 && !candidates.has(leading))) continue;
        take(
          leading,
          members,
          files.reduce((sum, { size }) => sum + size, 0),
        );
      }
    });
  }

  /** @returns null for what is gone since its folder was listed, and for what cannot be looked at: that is noted */
  async function unlessGone<T>(place: string, work: () => Promise<T>): Promise<T | null> {
    try {
      return await work();
    } catch (error) {
      if (isNotThere(error)) return null;
      log.warn({ err: error, place }, 'a file could not be looked at');
      unread.push(place);
      return null;
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

  /** @returns null for what is neither a regular file nor a folder, and for what lies outside the root */
  async function targetOf(folder: string, entry: Dirent): Promise<Target | null> {
    const { name } = entry;
    const full = path.join(realRoot, folder, name);
    if (!entry.isSymbolicLink()) {
      if (entry.isDirectory()) return { name, path: await fs.realpath(full), isFolder: true, isLink: false };
      return entry.isFile() ? { name, path: full, isFolder: false, isLink: false } : null;
    }
    const real = await fs.realpath(full);
    if (!real.startsWith(realRoot + path.sep)) {
      log.warn({ place: placeOf(folder, name) }, 'a link that leads out of the slide folder is left alone');
      return null;
    }
    const found = await fs.stat(real);
    if (!found.isDirectory() && !found.isFile()) return null;
    return { name, path: real, isFolder: found.isDirectory(), isLink: true };
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

function placeOf(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

/** Of the regular files below a folder. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  const sizes = await Promise.all(
    files.map(async ({ parentPath, name }) => (await fs.stat(path.join(parentPath, name))).size),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
