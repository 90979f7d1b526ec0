/**
 * Watches the slide folders, and reports changes so that the catalogue scans the folders. A report follows a short pause without
 * further changes.
 *
 * It watches folders, not files, so memory grows only with the number of folders. The scheduled scan finds the changes
 * that the operating system does not report, for example on some network file systems and below links.
 */
import fs, { type FSWatcher } from 'node:fs';
import path from 'node:path';
import type { Logger } from 'pino';
import { isHidden } from '../domain/hidden-files.ts';
import { createYielder } from '../platform/yield-to-event-loop.ts';
import { isMissingFile } from '../slide-storage/slide-roots.ts';

export interface Watch {
  /** Resolves when all folders that existed at the start are watched. */
  readonly ready: Promise<void>;
  close(): Promise<void>;
}

interface WatchOptions {
  /** Absolute paths. A folder that does not exist yet is watched when it appears, provided that its parent exists. */
  readonly folders: readonly string[];
  readonly onChange: () => void;
  readonly log: Logger;
}

/** A change is reported after a pause of this length, because a slide that is being copied changes continuously. */
const pauseMs = 500;
/** Maximum delay of a report if there is no pause. */
const maxDelayMs = 5000;

export function watchFolders({ folders, onChange, log }: WatchOptions): Watch {
  /** Watchers by absolute path of the folder. */
  const watchers = new Map<string, FSWatcher>();
  /** Folders that were created, or in which an entry has appeared or disappeared. New folders below them must be watched. */
  const changedFolders = new Set<string>();
  const yieldToEventLoop = createYielder();
  /** Timer of the pause after the last change; null when all changes are reported. */
  let pauseTimer: NodeJS.Timeout | null = null;
  /** Time (`performance.now`) of the first change that is not reported yet. */
  let firstChangeAt = 0;
  /** Resolves when the folders that existed at the start, and all folders passed to watchTreesSoon() so far, are watched. */
  let watchingDone: Promise<void> = Promise.resolve();
  let isClosed = false;
  let hasWarned = false;

  /** Starts the pause after which changes are reported. A running pause restarts, unless that would exceed the maximum delay. */
  function reportSoon(): void {
    const now = performance.now();
    if (pauseTimer === null) firstChangeAt = now;
    else if (now - firstChangeAt > maxDelayMs - pauseMs) return;
    else clearTimeout(pauseTimer);
    pauseTimer = setTimeout(() => {
      pauseTimer = null;
      const foldersToWatch = [...changedFolders];
      changedFolders.clear();
      // New folders are watched before the change is reported, so that files created after the scan are noticed.
      void watchTreesSoon(foldersToWatch).then(() => {
        if (!isClosed) onChange();
      });
    }, pauseMs);
  }

  /** Watches folders and all folders below them, as soon as the folders of earlier calls are watched. */
  function watchTreesSoon(foldersToWatch: readonly string[]): Promise<void> {
    watchingDone = watchingDone.then(async () => {
      for (const folder of foldersToWatch) await watchTree(folder);
    });
    return watchingDone;
  }

  /** Watches a folder, and all folders below it that are not watched yet. */
  async function watchTree(folder: string): Promise<void> {
    if (isClosed) return;
    watch(folder, (event, name) => {
      if (name !== null && isHidden(name)) return;
      if (event === 'rename') {
        if (name !== null) unwatch(path.join(folder, name)); // another folder may have this name now
        changedFolders.add(folder);
      }
      reportSoon();
    });
    for (const subfolder of await foldersIn(folder)) {
      await yieldToEventLoop();
      if (!watchers.has(subfolder)) await watchTree(subfolder);
    }
  }

  /**
   * Watches one folder. @param onEvent gets `rename` for an entry that was created, deleted or renamed, and `change` for one that
   * was written; the name of the entry is null when unknown
   */
  function watch(folder: string, onEvent: (event: 'rename' | 'change', name: string | null) => void): void {
    if (watchers.has(folder)) return;
    try {
      // With `persistent: false`, the watcher does not keep the process running.
      const watcher = fs.watch(folder, { persistent: false }, (event, name) => {
        if (!isClosed) onEvent(event, name);
      });
      watcher.on('error', (error) => {
        unwatch(folder);
        warnOnce(folder, error);
      });
      watchers.set(folder, watcher);
    } catch (error) {
      if (!isMissingFile(error)) warnOnce(folder, error);
    }
  }

  /** Stops watching a folder and all folders below it. */
  function unwatch(folder: string): void {
    for (const watched of watchers.keys()) {
      if (watched === folder || watched.startsWith(folder + path.sep)) closeWatcher(watched);
    }
  }

  function closeWatcher(folder: string): void {
    watchers.get(folder)?.close();
    watchers.delete(folder);
  }

  /** Logs the first folder that the operating system cannot watch. The scheduled scan still finds changes in such folders. */
  function warnOnce(folder: string, error: unknown): void {
    if (hasWarned) return;
    hasWarned = true;
    log.warn(
      { err: error, folder },
      'slide folder cannot be watched, so only the scheduled scan finds its changes (ENOSPC: raise fs.inotify.max_user_watches); further such folders are not logged',
    );
  }

  watchingDone = (async () => {
    for (const folder of folders) await watchTree(folder);
    // The parent of a root reports that the root was created or replaced; other entries of the parent do not matter.
    for (const parent of new Set(folders.map((folder) => path.dirname(folder)))) {
      watch(parent, (_, name) => {
        const root = path.join(parent, name ?? '');
        if (!folders.includes(root)) return;
        unwatch(root);
        changedFolders.add(root);
        reportSoon();
      });
    }
  })();

  return {
    ready: watchingDone,
    async close() {
      isClosed = true;
      if (pauseTimer !== null) clearTimeout(pauseTimer);
      await watchingDone;
      for (const watcher of watchers.values()) watcher.close();
      watchers.clear();
    },
  };
}

/** Returns the absolute paths of the subfolders; empty when the folder cannot be read. */
async function foldersIn(folder: string): Promise<string[]> {
  try {
    const entries = await fs.promises.readdir(folder, { withFileTypes: true });
    return entries
      .filter((entry) => entry.isDirectory() && !isHidden(entry.name))
      .map(({ name }) => path.join(folder, name));
  } catch {
    return []; // the scan logs the error
  }
}
