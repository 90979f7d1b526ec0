/**
 * Scans a slide root, which is a folder or a bucket: finds the files that are slides, and reads their dataset, organ and case
 * from metadata files (`catalogue.csv`, `dataset.json`). The scan considers only regular files, follows links whose target is
 * below the root, and skips hidden files and folders.
 *
 * A slide may consist of several files: a main file, by which it is opened and listed, and its members. Some formats keep the
 * members in a companion folder, for example the folder `a` of the slide `a.mrxs`.
 *
 * The file is longer than 350 lines because the functions of a scanner share the caches that it keeps between scans.
 */
import { basename } from 'node:path/posix';
import { setTimeout as wait } from 'node:timers/promises';
import {
  companionFolderOf,
  filesToInspect,
  hasSlideName,
  mayBeDicomByContent,
  withoutCompanionFolders,
  withoutResults,
} from '@lamina/slide/names';
import type { Logger } from 'pino';
import { isHidden } from '../domain/hidden-files.ts';
import { mapConcurrently } from '../platform/map-concurrently.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import {
  type FolderTree,
  fingerprintOfVersions,
  pathIn,
  type ReadTree,
  type TreeEntry,
  type TreeTarget,
} from '../slide-storage/folder-tree.ts';
import { createGroupFiles, isDicomByContent, type SeenFile, signatureOf } from './group-slides-of-folder.ts';
import {
  type FolderMetadata,
  isMetadataName,
  type MetadataProblem,
  readFolderMetadata,
  type SlideMetadata,
  slideMetadataOf,
} from './metadata-files.ts';

/** A slide that a scan has found, with dataset, organ and case from the metadata files. */
export interface FoundSlide extends SlideMetadata {
  /** Path of the main file below the root, with forward slashes. */
  readonly path: string;
  /** Names of the other files; a name that ends with a slash is a companion folder. */
  readonly members: readonly string[];
  /** Size of all files of the slide, in bytes. */
  readonly sizeBytes: number;
  readonly fingerprint: string; // hash of the versions of all files; stays the same when the slide is moved
}

export interface Scan {
  readonly slides: readonly FoundSlide[];
  /** Metadata files that are unusable or missing. */
  readonly problems: readonly MetadataProblem[];
  /** Paths of the metadata files that exist. */
  readonly metadataFiles: readonly string[];
  /** Paths that this scan could not read, so their content is unknown; '' is the root. */
  readonly unread: readonly string[];
}

/** Scans one root repeatedly. File contents are cached until the files change, so a scan of unchanged folders reads none. */
export interface Scanner {
  /**
   * Scans the root. A root that does not exist counts as empty.
   *
   * @param knownMetadataFiles paths of metadata files that earlier scans found; if one is missing now, the scan reports a problem
   */
  scan(knownMetadataFiles?: ReadonlySet<string>): Promise<Scan>;
}

interface ScannerDependencies {
  /** Name of the scanned root for the log. */
  readonly root: string;
  readonly readTree: ReadTree;
  readonly log: Logger;
}

/** A folder to scan, with the metadata of the folders above it, nearest first. */
interface FolderToScan {
  readonly folder: string;
  readonly metadataAbove: readonly FolderMetadata[];
}

/** Direct content of a folder. */
interface FolderContent {
  readonly slides: readonly FoundSlide[];
  /** Subfolders, without links. */
  readonly below: readonly FolderToScan[];
  /** Symbolic links to folders. */
  readonly linked: readonly FolderToScan[];
}

/** A file or folder in the scanned folder, after its link was followed: `resolvedPath` is its path below the root without links. */
type Target = TreeTarget & { readonly name: string; readonly isLink: boolean };

/** The metadata of a folder, and a signature of the files from which it was read. */
type CachedMetadata = Awaited<ReturnType<typeof readFolderMetadata>> & { readonly signature: string };

const maxDepth = 32; // number of nested folders below the root
/** Limits of concurrent accesses, which hide the latency of a network folder and leave capacity for tile requests. */
const maxConcurrentFolders = 4;
const maxConcurrentFiles = 4;
const maxCachedFolders = 10_000; // when this number is reached, the cache of metadata is emptied
/** A metadata file whose last change is more recent than this may be incomplete. */
const settledAfterMs = 1000;
/** Maximum wait for a metadata file that is being written. After this time, the file counts as unusable until a later scan. */
const maxSettleWaitMs = 5000;

const noMembers: readonly string[] = [];
const emptyFolder: FolderContent = { slides: [], below: [], linked: [] };

export function createScanner({ root, readTree, log }: ScannerDependencies): Scanner {
  const groupFiles = createGroupFiles();
  const metadataCache = new Map<string, CachedMetadata>();
  /** Paths of folders and files that the last scan could not read; this scan does not log them again. */
  let unreadBefore: ReadonlySet<string> = new Set();

  /** Scans a tree. @param knownNamesByFolder names of the metadata files that earlier scans found in each folder */
  async function scanTree(
    tree: FolderTree,
    knownNamesByFolder: ReadonlyMap<string, readonly string[]>,
    recordUnreadable: (path: string, error: unknown) => void,
  ) {
    const metadataFiles: string[] = [];
    const slides: FoundSlide[] = [];
    const problems: MetadataProblem[] = [];
    /** Folders that this scan has visited, with all links resolved, so that a cycle of links ends. '' is the root. */
    const visitedPaths = new Set<string>(['']);
    const yieldToEventLoop = createYielder();

    /** Scans one folder, without the folders below it. */
    async function scanFolder({ folder, metadataAbove }: FolderToScan): Promise<FolderContent> {
      const entries = await tree.entriesOf(folder);
      if (entries === null) return emptyFolder;
      const metadata = await metadataOf(folder, entries);
      /** The metadata that applies to the slides of this folder, nearest folder first. */
      const chain = metadata === null ? metadataAbove : [metadata, ...metadataAbove];
      // A file with results of a slide is not a slide itself.
      const names = withoutResults(entries.map(({ name }) => name).filter((name) => !isHidden(name)));
      /** Names of files that may be a slide alone, and of folders to scan. */
      const candidates = new Set(withoutCompanionFolders(names));
      /** Names of files that may form a slide together, for example the files of a DICOM series. */
      const namesToGroup = new Set(filesToInspect(names));
      const relevantEntries = entries.filter(({ name, kind }) => {
        if (isHidden(name)) return false;
        // Node.js reads bytes that are not UTF-8 as this replacement character, so the file could not be opened.
        if (name.includes('\ufffd')) {
          log.warn(
            { root, path: pathIn(folder, name) },
            'file or folder at `path` in `root` skipped: its name is not UTF-8; rename it',
          );
          return false;
        }
        // A companion folder is not a candidate, but its size and versions belong to a slide.
        return candidates.has(name) || namesToGroup.has(name) || kind === 'folder';
      });
      const targetsOrNull = await mapConcurrently(relevantEntries, maxConcurrentFiles, async (entry) => {
        await yieldToEventLoop();
        return unlessUnreadable(pathIn(folder, entry.name), () => tree.find(folder, entry));
      });
      const targets = relevantEntries.flatMap(({ name, kind }, i): Target[] => {
        const target = targetsOrNull[i];
        return target ? [{ ...target, name, isLink: kind === 'link' }] : [];
      });
      const folders = targets.filter(
        ({ name, kind }) =>
          kind === 'folder' && candidates.has(name) && pathIn(folder, name).split('/').length <= maxDepth,
      );
      const linked = folders.filter(({ isLink }) => isLink);
      const below = folders.filter(({ isLink, resolvedPath }) => !isLink && recordVisit(resolvedPath));
      const asFolderToScan = ({ name }: Target): FolderToScan => ({
        folder: pathIn(folder, name),
        metadataAbove: chain,
      });
      return {
        slides: await slidesAmong(folder, targets, candidates, namesToGroup, chain),
        below: below.map(asFolderToScan),
        linked: linked.map(asFolderToScan),
      };
    }

    /** Records that this scan visits a folder. @returns false when the scan has visited the folder before */
    function recordVisit(resolvedPath: string): boolean {
      if (visitedPaths.has(resolvedPath)) return false;
      visitedPaths.add(resolvedPath);
      return true;
    }

    /** Scans a folder and all folders below it, but does not follow links. @returns the links to folders */
    async function scanDown(start: FolderToScan): Promise<readonly FolderToScan[]> {
      const linked: FolderToScan[] = [];
      // Each iteration scans one level of the folder tree.
      for (let level: readonly FolderToScan[] = [start]; level.length > 0; ) {
        const contents = await mapConcurrently(level, maxConcurrentFolders, async (folderToScan) => {
          const scanned = await unlessUnreadable(folderToScan.folder, () => scanFolder(folderToScan));
          return scanned ?? emptyFolder;
        });
        for (const content of contents) {
          for (const slide of content.slides) slides.push(slide);
          linked.push(...content.linked);
        }
        level = contents.flatMap(({ below }) => below);
      }
      return linked;
    }

    /** Returns the slides among the files of a folder. See scanFolder() for `candidates`, `namesToGroup` and `chain`. */
    async function slidesAmong(
      folder: string,
      targets: readonly Target[],
      candidates: ReadonlySet<string>,
      namesToGroup: ReadonlySet<string>,
      chain: readonly FolderMetadata[],
    ): Promise<readonly FoundSlide[]> {
      const slideOf = (
        name: string,
        members: readonly string[],
        sizeBytes: number,
        versions: readonly string[],
      ): FoundSlide => {
        const path = pathIn(folder, name);
        const fingerprint = fingerprintOfVersions(versions);
        return { path, members, sizeBytes, fingerprint, ...slideMetadataOf(path, chain) };
      };
      /** Names of folders by lower-case name, because companionFolderOf() returns a lower-case name. */
      const foldersByLowerCaseName = new Map(
        targets.flatMap(({ name, kind, isLink }) =>
          kind === 'folder' && !isLink ? [[name.toLowerCase(), name]] : [],
        ),
      );
      const found: FoundSlide[] = [];
      const filesToGroup = new Map<string, SeenFile>();
      for (const target of targets) {
        if (target.kind === 'folder') continue;
        await yieldToEventLoop();
        const { name, resolvedPath, size, version, isLink } = target;
        // The files of a slide are all in one folder. A link usually leads to another folder, so links are not grouped.
        if (namesToGroup.has(name) && !isLink) {
          filesToGroup.set(name, { name, resolvedPath, size, version });
          continue;
        }
        await unlessUnreadable(pathIn(folder, name), async () => {
          if (!candidates.has(name)) return;
          const isSlide =
            hasSlideName(name) || (mayBeDicomByContent(name) && (await isDicomByContent(tree, resolvedPath)));
          if (!isSlide) return;
          const companionFolder = isLink
            ? undefined
            : foldersByLowerCaseName.get(companionFolderOf(name) ?? '');
          const companionContent =
            companionFolder === undefined ? null : await tree.allBelow(pathIn(folder, companionFolder));
          if (companionFolder === undefined || companionContent === null)
            found.push(slideOf(name, noMembers, size, [version]));
          else {
            found.push(
              slideOf(name, [`${companionFolder}/`], size + companionContent.sizeBytes, [
                version,
                ...companionContent.versions,
              ]),
            );
          }
        });
      }
      if (filesToGroup.size === 0) return found;
      await unlessUnreadable(folder, async () => {
        const groups = await groupFiles(tree, folder, [...filesToGroup.values()]);
        if (groups === null) recordUnreadable(folder, null); // null: there is no error to log
        for (const { main, members } of groups ?? []) {
          // The render worker (the process that reads slide files) parses untrusted content when it groups files. The scan
          // therefore ignores a group with a name that was not passed to the worker, and a single file that is not a candidate.
          const files = [main, ...members].flatMap((name) => filesToGroup.get(name) ?? []);
          const hasUnknownName = files.length < 1 + members.length;
          const isNoCandidate = members.length === 0 && !candidates.has(main);
          if (hasUnknownName || isNoCandidate) continue;
          const sizeBytes = files.reduce((sum, { size }) => sum + size, 0);
          const versions = files.map(({ version }) => version);
          found.push(slideOf(main, members, sizeBytes, versions));
        }
      });
      return found;
    }

    /** Returns the result of `work`. When `work` throws, records the path as unreadable and returns null. */
    async function unlessUnreadable<T>(path: string, work: () => Promise<T>): Promise<T | null> {
      try {
        return await work();
      } catch (error) {
        recordUnreadable(path, error);
        return null;
      }
    }

    /** Reads the metadata files of a folder, or uses the cached content. @returns null when the folder has no metadata file */
    async function metadataOf(folder: string, entries: readonly TreeEntry[]): Promise<FolderMetadata | null> {
      const files: (SeenFile & { readonly isChanging: boolean })[] = [];
      for (const entry of entries) {
        if (entry.kind !== 'file' || !isMetadataName(entry.name)) continue;
        const file = await waitForSettledFile(folder, entry);
        if (file !== null) files.push(file);
      }
      metadataFiles.push(...files.map(({ name }) => pathIn(folder, name)));
      const missing = (knownNamesByFolder.get(folder) ?? []).filter(
        (name) => !files.some((file) => file.name === name),
      );
      if (files.length === 0 && missing.length === 0) return null;
      const signature = `${signatureOf(files)} ${missing.join(' ')}`;
      let folderMetadata = metadataCache.get(folder);
      if (folderMetadata?.signature !== signature) {
        const readable = files.map(({ name, size, isChanging, resolvedPath }) => ({
          name,
          size,
          isChanging,
          read: () => tree.read(resolvedPath, 0, size),
        }));
        folderMetadata = { signature, ...(await readFolderMetadata(folder, readable, missing)) };
        if (metadataCache.size >= maxCachedFolders) metadataCache.clear();
        // Problems are not cached: an unreadable file may become readable without a change.
        if (folderMetadata.problems.length === 0) metadataCache.set(folder, folderMetadata);
      }
      problems.push(...folderMetadata.problems);
      return folderMetadata.metadata;
    }

    /** Waits until a file has not changed for `settledAfterMs`. @returns the file; null when it is missing */
    async function waitForSettledFile(folder: string, entry: TreeEntry) {
      const deadline = performance.now() + maxSettleWaitMs;
      for (;;) {
        const target = await tree.find(folder, entry);
        if (target?.kind !== 'file') return null;
        // An object of a bucket has no `changedAt`, because it is always complete. A negative age means that a clock is wrong.
        const ageMs = target.changedAt === undefined ? settledAfterMs : Date.now() - target.changedAt;
        const isChanging = ageMs >= 0 && ageMs < settledAfterMs;
        if (!isChanging || performance.now() > deadline) return { name: entry.name, ...target, isChanging };
        await wait(settledAfterMs - ageMs);
      }
    }

    // Links are followed last: a folder that can be reached with and without a link gets the path without a link.
    const linked = [...(await scanDown({ folder: '', metadataAbove: [] }))];
    for (let next = linked.shift(); next !== undefined; next = linked.shift()) {
      const { folder } = next;
      const target = await tree.find(folderOf(folder), { name: basename(folder), kind: 'link' });
      if (target?.kind === 'folder' && recordVisit(target.resolvedPath))
        linked.push(...(await scanDown(next)));
    }
    // A missing metadata file is a problem only if there are slides below its folder.
    const existing = new Set(metadataFiles);
    const relevantProblems = problems.filter(({ path }) => existing.has(path) || slides.some(isBelow(path)));
    return { slides, problems: relevantProblems, metadataFiles };
  }

  return {
    async scan(knownMetadataFiles = new Set()) {
      const byFolder = Map.groupBy(knownMetadataFiles, folderOf);
      const knownNamesByFolder = new Map(
        [...byFolder].map(([folder, paths]) => [folder, paths.map((filePath) => basename(filePath))]),
      );
      const unread = new Map<string, unknown>();
      const recordUnreadable = (path: string, error: unknown) => {
        unread.set(path, error);
      };
      let found: Omit<Scan, 'unread'> = { slides: [], problems: [], metadataFiles: [] };
      try {
        const tree = await readTree();
        if (tree !== null) found = await scanTree(tree, knownNamesByFolder, recordUnreadable);
      } catch (error) {
        recordUnreadable('', error);
      }
      const newlyUnread = [...unread].filter(([path]) => !unreadBefore.has(path));
      const [firstUnread] = newlyUnread;
      if (firstUnread !== undefined) {
        const [path, err] = firstUnread;
        log.warn(
          { err, root, path, unreadableCount: newlyUnread.length },
          'slide storage `root` unreadable at `unreadableCount` places, the first of which is `path`; their slides stay in the catalogue, and the next scan tries again',
        );
      }
      if (unread.size === 0 && unreadBefore.size > 0)
        log.info(
          { root },
          'slide storage `root` is readable again: the last scan could read all of its folders',
        );
      unreadBefore = new Set(unread.keys());
      return { ...found, unread: [...unread.keys()] };
    },
  };
}

/** Returns the folder of a path below the root; '' for the root. */
function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns a predicate: whether a slide is below the folder of a metadata file. */
function isBelow(metadataPath: string): (slide: FoundSlide) => boolean {
  const folder = folderOf(metadataPath);
  return ({ path }) => folder === '' || path.startsWith(`${folder}/`);
}
