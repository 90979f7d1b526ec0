/**
 * Tells when something in the slide folders has changed, once things have become quiet again.
 *
 * Each folder is watched, no single file: a hundred thousand slides take no more memory than their folders do. What is
 * not told of, as on some network file systems and below links, the timed scan finds.
 */
import fs, { type FSWatcher } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import { isHidden } from '../domain/slide-names.ts';
import { isNotThere } from '../slides/slide-roots.ts';
import { createGiveWay } from './give-way.ts';

export interface Watch {
  /** Resolves when all folders that were there at the beginning are watched. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

interface Plan {
  /** Absolute. One that is not there yet is watched as soon as it is, when the folder it will be in is there. */
  readonly folders: readonly string[];
  readonly onChange: () => void;
  readonly log: Logger;
}

/** A slide that is being copied changes all the time; it is looked at when the copying pauses. */
const quietMs = 500;
/** … or has gone on for so long. */
const patienceMs = 5000;

export function watchFolders({ folders, onChange, log }: Plan): Watch {
  /** By absolute path. */
  const watchers = new Map<string, FSWatcher>();
  /** Folders in which something has appeared or gone. */
  const changed = new Set<string>();
  const giveWay = createGiveWay();
  let timer: NodeJS.Timeout | null = null;
  let waitingSince = 0;
  let following: Promise<void> = Promise.resolve();
  let isClosed = false;
  let isTold = false;

  function soon(): void {
    const now = performance.now();
    if (timer === null) waitingSince = now;
    else if (now - waitingSince > patienceMs - quietMs) return;
    else clearTimeout(timer);
    timer = setTimeout(() => {
      timer = null;
      const again = [...changed];
      changed.clear();
      // New folders first: what comes into them from now on is told, what is there already is found.
      void followSoon(again).then(() => {
        if (!isClosed) onChange();
      });
    }, quietMs);
  }

  function followSoon(these: readonly string[]): Promise<void> {
    following = following.then(async () => {
      for (const folder of these) await follow(folder);
    });
    return following;
  }

  /** Watches a folder, and all below it that are not watched yet. */
  async function follow(folder: string): Promise<void> {
    if (isClosed) return;
    watch(folder, (event, name) => {
      if (name !== null && isHidden(name)) return;
      if (event === 'rename') {
        if (name !== null) letGo(path.join(folder, name)); // if it was a folder, it is another one now
        changed.add(folder);
      }
      soon();
    });
    for (const below of await foldersIn(folder)) {
      await giveWay();
      if (!watchers.has(below)) await follow(below);
    }
  }

  /** @param onEvent told what it happened to; null: not known. `rename` is also coming and going */
  function watch(folder: string, onEvent: (event: 'rename' | 'change', name: string | null) => void): void {
    if (watchers.has(folder)) return;
    try {
      const watcher = fs.watch(folder, { persistent: false }, (event, name) => {
        if (!isClosed) onEvent(event, name);
      });
      watcher.on('error', (error) => {
        letGo(folder);
        warn(error);
      });
      watchers.set(folder, watcher);
    } catch (error) {
      if (!isNotThere(error)) warn(error);
    }
  }

  /** With all below it. */
  function letGo(folder: string): void {
    for (const watched of watchers.keys()) {
      if (watched === folder || watched.startsWith(folder + path.sep)) letGoOf(watched);
    }
  }

  function letGoOf(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** Too many folders to watch, or a file system that cannot be: the timed scan goes on. */
  function warn(error: unknown): void {
    if (isTold) return;
    isTold = true;
    log.warn({ err: error }, 'the slide folders cannot be watched fully');
  }

  following = (async () => {
    for (const folder of folders) await follow(folder);
    // A root that comes, or is another one, is told by the folder it is in, of which nothing else matters.
    for (const parent of new Set(folders.map((folder) => path.dirname(folder)))) {
      watch(parent, (_, name) => {
        const root = path.join(parent, name ?? '');
        if (!folders.includes(root)) return;
        letGo(root);
        changed.add(root);
        soon();
      });
    }
  })();

  return {
    ready: following,
    async close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      await following;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** Absolute paths; none where the folder cannot be read. */
async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await fs.promises.readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !isHidden(entry.name))
      .map(({ name }) => path.join(folder, name));
  } catch {
    return []; // the scan tells of it
  }
}
