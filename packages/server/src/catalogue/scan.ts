/**
 * Looks through a root of slides, a folder or a bucket: which files are slides, and what the metadata files say of them.
 *
 * Regular files alone; links are followed as long as they stay below the root; hidden files and folders
 * are skipped.
 */
import type { Logger } from 'pino';
import {
  folderNameOf,
  hasSlideName,
  isHidden,
  mayBeDicomByContent,
  toLookInto,
  unclaimed,
} from '../domain/slide-names.ts';
import {
  type FolderTree,
  fingerprintOfVersions,
  type LookAtTree,
  placeIn,
  type TreeEntry,
  type TreeTarget,
} from '../slides/folder-tree.ts';
import { createGiveWay } from './give-way.ts';
import { createGroupFiles, isDicomByContent, type SeenFile, signatureOf } from './group-files.ts';
import {
  type FolderMetadata,
  isMetadataName,
  type MetadataProblem,
  readFolderMetadata,
  type SlideMetadata,
  slideMetadataOf,
} from './metadata-files.ts';
import { severalAtOnce } from './several-at-once.ts';

export interface FoundSlide extends SlideMetadata {
  /** Below the root, with forward slashes. Of a slide of several files, the leading one. */
  readonly path: string;
  /** The other files, by name; one that ends with a slash is a folder. */
  readonly members: readonly string[];
  /** Of all files of the slide. */
  readonly sizeBytes: number;
  /** Of the slide as it is now. */
  readonly fingerprint: string;
}

export interface Scan {
  readonly slides: readonly FoundSlide[];
  /** Metadata files that could not be used, by their path below the root. */
  readonly problems: readonly MetadataProblem[];
  /** Folders that could not be looked at this time; nothing is known of what lies below them. '' is the root. */
  readonly unread: readonly string[];
}

/** Remembers what files said as long as they do not change: looking again at the same costs no reading. */
export interface Scanner {
  /** A root that does not exist is the same as an empty one. */
  scan(): Promise<Scan>;
}

interface Ground {
  readonly look: LookAtTree;
  readonly log: Logger;
}

/** A folder to go through, and what the metadata files above it say, nearest first. */
interface ToWalk {
  readonly folder: string;
  readonly above: readonly FolderMetadata[];
}

/** What a folder was found to hold by itself. */
interface Walked {
  readonly slides: readonly FoundSlide[];
  readonly below: readonly ToWalk[];
  /** Folders that were reached through a link. */
  readonly linked: readonly ToWalk[];
}

/** A file or a folder of the folder that is walked. */
type Target = TreeTarget & { readonly name: string; readonly isLink: boolean };

type KnownMetadata = Awaited<ReturnType<typeof readFolderMetadata>> & { readonly signature: string };

/** Deeper folders are not looked at. */
const maxDepth = 32;
/** Enough to hide the waiting of a network folder; few enough for reads of tiles to get in between. */
const foldersAtOnce = 4;
const filesAtOnce = 4;
const maxKnown = 10_000;

const noMembers: readonly string[] = [];
const nothing: Walked = { slides: [], below: [], linked: [] };

export function createScanner({ look, log }: Ground): Scanner {
  const groupFiles = createGroupFiles();
  const knownMetadata = new Map<string, KnownMetadata>();
  /** What could not be looked at the last time, so that it is told once. */
  let unreadBefore: ReadonlySet<string> = new Set();

  async function scanTree(tree: FolderTree, unreadable: (place: string, error: unknown) => void) {
    const slides: FoundSlide[] = [];
    const problems: MetadataProblem[] = [];
    const visited = new Set<string>(['']);
    const giveWay = createGiveWay();

    async function walk({ folder, above }: ToWalk): Promise<Walked> {
      const entries = await tree.entriesOf(folder);
      if (entries === null) return nothing;
      const metadata = await metadataOf(folder, entries);
      const chain = metadata === null ? above : [metadata, ...above];
      const names = entries.map(({ name }) => name).filter((name) => !isHidden(name));
      const candidates = new Set(unclaimed(names));
      const together = new Set(toLookInto(names));
      const wanted = entries.filter(({ name, kind }) => {
        if (isHidden(name)) return false;
        if (name.includes('\ufffd')) {
          log.warn({ folder, name }, 'a file whose name is not UTF-8 is left alone');
          return false;
        }
        return candidates.has(name) || together.has(name) || kind === 'folder';
      });
      const found = await severalAtOnce(wanted, filesAtOnce, async (entry) => {
        await giveWay();
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

    /** A folder and all below it, except through links: those are returned. */
    async function walkDown(from: ToWalk): Promise<readonly ToWalk[]> {
      const linked: ToWalk[] = [];
      for (let level: readonly ToWalk[] = [from]; level.length > 0; ) {
        const walked = await severalAtOnce(level, foldersAtOnce, async (each) => {
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
        await giveWay();
        const { name, realPlace, size, version, isLink } = target;
        // The files of a slide are looked for beside its leading one, so a link is no part of one of several.
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
          const own = isLink ? undefined : folders.get(folderNameOf(name) ?? '');
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
          // Whoever tells has read files that anyone may have written: it is believed about the files it was shown.
          const files = [leading, ...members].flatMap((name) => seen.get(name) ?? []);
          if (files.length <= members.length || (members.length === 0 && !candidates.has(leading))) continue;
          const sizeBytes = files.reduce((sum, { size }) => sum + size, 0);
          const versions = files.map(({ version }) => version);
          found.push(slideOf(leading, members, sizeBytes, versions));
        }
      });
      return found;
    }

    /** @returns null for what cannot be looked at: that is noted */
    async function unlessUnreadable<T>(place: string, work: () => Promise<T>): Promise<T | null> {
      try {
        return await work();
      } catch (error) {
        unreadable(place, error);
        return null;
      }
    }

    async function metadataOf(folder: string, entries: readonly TreeEntry[]): Promise<FolderMetadata | null> {
      const files: SeenFile[] = [];
      for (const entry of entries) {
        if (entry.kind !== 'file' || !isMetadataName(entry.name)) continue;
        const target = await tree.find(folder, entry);
        if (target?.kind === 'file') files.push({ name: entry.name, ...target });
      }
      if (files.length === 0) return null;
      const signature = signatureOf(files);
      let known = knownMetadata.get(folder);
      if (known?.signature !== signature) {
        const readable = files.map(({ name, size, realPlace }) => ({
          name,
          size,
          read: () => tree.read(realPlace, 0, size),
        }));
        known = { signature, ...(await readFolderMetadata(folder, readable)) };
        if (knownMetadata.size >= maxKnown) knownMetadata.clear();
        knownMetadata.set(folder, known);
      }
      problems.push(...known.problems);
      return known.metadata;
    }

    // Links last: a folder that can be reached twice is known by its own name.
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
    return { slides, problems };
  }

  return {
    async scan() {
      const unread = new Map<string, unknown>();
      const unreadable = (place: string, error: unknown) => {
        unread.set(place, error);
      };
      let found: Pick<Scan, 'slides' | 'problems'> = { slides: [], problems: [] };
      try {
        const tree = await look();
        if (tree !== null) found = await scanTree(tree, unreadable);
      } catch (error) {
        unreadable('', error);
      }
      const news = [...unread].filter(([place]) => !unreadBefore.has(place));
      const [first] = news;
      if (first !== undefined) {
        const [place, err] = first;
        log.warn({ err, place, places: news.length }, 'a place of slides cannot be looked at now');
      }
      if (unread.size === 0 && unreadBefore.size > 0) log.info('all places of slides can be looked at again');
      unreadBefore = new Set(unread.keys());
      return { ...found, unread: [...unread.keys()] };
    },
  };
}
