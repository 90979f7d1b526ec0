/**
 * Scans a root of slides, a folder or a bucket: finds the files that are slides, and their dataset and organ in metadata files.
 *
 * It reads regular files only, follows links that stay below the root, and skips hidden files and folders.
 *
 * Longer than other files: the functions of a scanner share what it remembers of the last scan.
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
  placeIn,
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

export interface FoundSlide extends SlideMetadata {
  /** Path below the root, with forward slashes; of a slide of several files, that of the leading one. */
  readonly path: string;
  /** Names of the other files; a name that ends with a slash is a folder. */
  readonly members: readonly string[];
  /** Size of all files of the slide. */
  readonly sizeBytes: number;
  /** Current fingerprint of all files. */
  readonly fingerprint: string;
}

export interface Scan {
  readonly slides: readonly FoundSlide[];
  /** Metadata files that are unusable or missing. */
  readonly problems: readonly MetadataProblem[];
  /** Paths of the metadata files that exist. */
  readonly metadataFiles: readonly string[];
  /** Places that this scan could not read, so that their content is unknown; '' is the root. */
  readonly unread: readonly string[];
}

/** Caches the content of files until they change, so that a scan of unchanged folders reads no file. */
export interface Scanner {
  /**
   * Scans the root; a root that does not exist is an empty one.
   *
   * @param knownMetadata paths of metadata files of earlier scans: a missing one is a problem
   */
  scan(knownMetadata?: ReadonlySet<string>): Promise<Scan>;
}

interface ScannerDependencies {
  readonly look: ReadTree;
  readonly log: Logger;
}

/** A folder to scan, with the metadata of the folders above it, nearest first. */
interface ToWalk {
  readonly folder: string;
  readonly above: readonly FolderMetadata[];
}

/** Direct content of a folder. */
interface Walked {
  readonly slides: readonly FoundSlide[];
  readonly below: readonly ToWalk[];
  /** Folders behind links. */
  readonly linked: readonly ToWalk[];
}

/** A file or folder in the scanned folder. */
type Target = TreeTarget & { readonly name: string; readonly isLink: boolean };

type KnownMetadata = Awaited<ReturnType<typeof readFolderMetadata>> & { readonly signature: string };

/** Deeper folders are not scanned. */
const maxDepth = 32;
/** Enough to hide the latency of a network folder; few enough to leave reads to tiles. */
const foldersAtOnce = 4;
const filesAtOnce = 4;
const maxCachedFolders = 10_000;
/** A metadata file that changed less than this ago may not be complete. */
const settleMs = 1000;
/** After this time the scan continues without the file; the write that follows starts another scan. */
const settleWithinMs = 5000;

const noMembers: readonly string[] = [];
const nothing: Walked = { slides: [], below: [], linked: [] };

export function createScanner({ look, log }: ScannerDependencies): Scanner {
  const groupFiles = createGroupFiles();
  const knownMetadata = new Map<string, KnownMetadata>();
  /** Places that the last scan could not read: each is logged once. */
  let unreadBefore: ReadonlySet<string> = new Set();

  async function scanTree(
    tree: FolderTree,
    expected: ReadonlyMap<string, readonly string[]>,
    unreadable: (place: string, error: unknown) => void,
  ) {
    const metadataFiles: string[] = [];
    const slides: FoundSlide[] = [];
    const problems: MetadataProblem[] = [];
    const visited = new Set<string>(['']);
    const yieldToEventLoop = createYielder();

    async function walk({ folder, above }: ToWalk): Promise<Walked> {
      const entries = await tree.entriesOf(folder);
      if (entries === null) return nothing;
      const metadata = await metadataOf(folder, entries);
      const chain = metadata === null ? above : [metadata, ...above];
      const names = withoutResults(entries.map(({ name }) => name).filter((name) => !isHidden(name)));
      const candidates = new Set(withoutCompanionFolders(names));
      const together = new Set(filesToInspect(names));
      const wanted = entries.filter(({ name, kind }) => {
        if (isHidden(name)) return false;
        if (name.includes('\ufffd')) {
          log.warn({ folder, name }, 'slide file skipped: its name is not UTF-8; rename the file');
          return false;
        }
        return candidates.has(name) || together.has(name) || kind === 'folder';
      });
      const found = await mapConcurrently(wanted, filesAtOnce, async (entry) => {
        await yieldToEventLoop();
        return unlessUnreadable(placeIn(folder, entry.name), () => tree.find(folder, entry));
      });
      const targets = wanted.flatMap(({ name, kind }, i): Target[] => {
        const target = found[i];
        return target ? [{ ...target, name, isLink: kind === 'link' }] : [];
      });
      const folders = targets.filter(
        ({ name, kind }) =>
          kind === 'folder' && candidates.has(name) && placeIn(folder, name).split('/').length <= maxDepth,
      );
      const linked = folders.filter(({ isLink }) => isLink);
      const below = folders.filter(({ isLink, realPlace }) => !isLink && isFirstVisit(realPlace));
      const toWalk = ({ name }: Target): ToWalk => ({ folder: placeIn(folder, name), above: chain });
      return {
        slides: await slidesAmong(folder, targets, candidates, together, chain),
        below: below.map(toWalk),
        linked: linked.map(toWalk),
      };
    }

    function isFirstVisit(realPlace: string): boolean {
      if (visited.has(realPlace)) return false;
      visited.add(realPlace);
      return true;
    }

    /** Scans a folder and those below it, except behind links. @returns folders behind links */
    async function walkDown(from: ToWalk): Promise<readonly ToWalk[]> {
      const linked: ToWalk[] = [];
      for (let level: readonly ToWalk[] = [from]; level.length > 0; ) {
        const walked = await mapConcurrently(level, foldersAtOnce, async (each) => {
          return (await unlessUnreadable(each.folder, () => walk(each))) ?? nothing;
        });
        for (const each of walked) {
          for (const slide of each.slides) slides.push(slide);
          linked.push(...each.linked);
        }
        level = walked.flatMap(({ below }) => below);
      }
      return linked;
    }

    async function slidesAmong(
      folder: string,
      targets: readonly Target[],
      candidates: ReadonlySet<string>,
      together: ReadonlySet<string>,
      chain: readonly FolderMetadata[],
    ): Promise<readonly FoundSlide[]> {
      const slideOf = (
        name: string,
        members: readonly string[],
        sizeBytes: number,
        versions: readonly string[],
      ): FoundSlide => {
        const path = placeIn(folder, name);
        const fingerprint = fingerprintOfVersions(versions);
        return { path, members, sizeBytes, fingerprint, ...slideMetadataOf(path, chain) };
      };
      const folders = new Map(
        targets.flatMap(({ name, kind, isLink }) =>
          kind === 'folder' && !isLink ? [[name.toLowerCase(), name]] : [],
        ),
      );
      const found: FoundSlide[] = [];
      const seen = new Map<string, SeenFile>();
      for (const target of targets) {
        if (target.kind === 'folder') continue;
        await yieldToEventLoop();
        const { name, realPlace, size, version, isLink } = target;
        // The files of a slide are in the folder of the leading one, so a link is never part of a slide of several files.
        if (together.has(name) && !isLink) {
          seen.set(name, { name, realPlace, size, version });
          continue;
        }
        await unlessUnreadable(placeIn(folder, name), async () => {
          if (!candidates.has(name)) return;
          if (
            !hasSlideName(name) &&
            !(mayBeDicomByContent(name) && (await isDicomByContent(tree, realPlace)))
          )
            return;
          const own = isLink ? undefined : folders.get(companionFolderOf(name) ?? '');
          const more = own === undefined ? null : await tree.allBelow(placeIn(folder, own));
          if (own === undefined || more === null) found.push(slideOf(name, noMembers, size, [version]));
          else {
            found.push(slideOf(name, [`${own}/`], size + more.sizeBytes, [version, ...more.versions]));
          }
        });
      }
      if (seen.size === 0) return found;
      await unlessUnreadable(folder, async () => {
        const groups = await groupFiles(tree, folder, [...seen.values()]);
        if (groups === null) unreadable(folder, null);
        for (const { leading, members } of groups ?? []) {
          // The grouping process has parsed untrusted files: only names that it was given are accepted.
          const files = [leading, ...members].flatMap((name) => seen.get(name) ?? []);
          if (files.length <= members.length || (members.length === 0 && !candidates.has(leading))) continue;
          const sizeBytes = files.reduce((sum, { size }) => sum + size, 0);
          const versions = files.map(({ version }) => version);
          found.push(slideOf(leading, members, sizeBytes, versions));
        }
      });
      return found;
    }

    /** @returns null for a place that cannot be read, which is recorded */
    async function unlessUnreadable<T>(place: string, work: () => Promise<T>): Promise<T | null> {
      try {
        return await work();
      } catch (error) {
        unreadable(place, error);
        return null;
      }
    }

    async function metadataOf(folder: string, entries: readonly TreeEntry[]): Promise<FolderMetadata | null> {
      const files: (SeenFile & { readonly isChanging: boolean })[] = [];
      for (const entry of entries) {
        if (entry.kind !== 'file' || !isMetadataName(entry.name)) continue;
        const file = await settledFile(folder, entry);
        if (file !== null) files.push(file);
      }
      metadataFiles.push(...files.map(({ name }) => placeIn(folder, name)));
      const missing = (expected.get(folder) ?? []).filter(
        (name) => !files.some((file) => file.name === name),
      );
      if (files.length === 0 && missing.length === 0) return null;
      const signature = `${signatureOf(files)} ${missing.join(' ')}`;
      let known = knownMetadata.get(folder);
      if (known?.signature !== signature) {
        const readable = files.map(({ name, size, isChanging, realPlace }) => ({
          name,
          size,
          isChanging,
          read: () => tree.read(realPlace, 0, size),
        }));
        known = { signature, ...(await readFolderMetadata(folder, readable, missing)) };
        if (knownMetadata.size >= maxCachedFolders) knownMetadata.clear();
        // An unreadable file may become readable without a change.
        if (known.problems.length === 0) knownMetadata.set(folder, known);
      }
      problems.push(...known.problems);
      return known.metadata;
    }

    /** Waits for a file that is being written. @returns null when it is missing */
    async function settledFile(folder: string, entry: TreeEntry) {
      const deadline = performance.now() + settleWithinMs;
      for (;;) {
        const target = await tree.find(folder, entry);
        if (target?.kind !== 'file') return null;
        const age = target.changedAt === undefined ? settleMs : Date.now() - target.changedAt;
        const isChanging = age >= 0 && age < settleMs;
        if (!isChanging || performance.now() > deadline) return { name: entry.name, ...target, isChanging };
        await wait(settleMs - age);
      }
    }

    // Links last: a folder with two paths gets the one without a link.
    const linked = [...(await walkDown({ folder: '', above: [] }))];
    for (let next = linked.shift(); next !== undefined; next = linked.shift()) {
      const { folder } = next;
      const [parent, name] = [
        folder.slice(0, Math.max(0, folder.lastIndexOf('/'))),
        folder.split('/').at(-1),
      ];
      const target = await tree.find(parent, { name: name ?? '', kind: 'link' });
      if (target?.kind === 'folder' && isFirstVisit(target.realPlace)) linked.push(...(await walkDown(next)));
    }
    // A folder without slides needs no metadata file.
    const existing = new Set(metadataFiles);
    const relevant = problems.filter(({ path }) => existing.has(path) || slides.some(isBelow(path)));
    return { slides, problems: relevant, metadataFiles };
  }

  return {
    async scan(knownMetadata = new Set()) {
      const byFolder = Map.groupBy(knownMetadata, folderOf);
      const expected = new Map(
        [...byFolder].map(([folder, paths]) => [folder, paths.map((each) => basename(each))]),
      );
      const unread = new Map<string, unknown>();
      const unreadable = (place: string, error: unknown) => {
        unread.set(place, error);
      };
      let found: Omit<Scan, 'unread'> = { slides: [], problems: [], metadataFiles: [] };
      try {
        const tree = await look();
        if (tree !== null) found = await scanTree(tree, expected, unreadable);
      } catch (error) {
        unreadable('', error);
      }
      const newlyUnread = [...unread].filter(([place]) => !unreadBefore.has(place));
      const [first] = newlyUnread;
      if (first !== undefined) {
        const [place, err] = first;
        log.warn(
          { err, place, places: newlyUnread.length },
          'slide storage unreadable; its slides stay in the catalogue, and the next scan tries again',
        );
      }
      if (unread.size === 0 && unreadBefore.size > 0) log.info('slide storage readable again after errors');
      unreadBefore = new Set(unread.keys());
      return { ...found, unread: [...unread.keys()] };
    },
  };
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')));
}

/** Returns a test whether a slide is below the folder of a metadata file. */
function isBelow(metadataPath: string): (slide: FoundSlide) => boolean {
  const folder = folderOf(metadataPath);
  return ({ path }) => folder === '' || path.startsWith(`${folder}/`);
}
