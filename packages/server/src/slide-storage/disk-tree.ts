/** Presents a slide folder on the disk as a tree, for the scan. Links are followed only if their target is inside the folder. */
import type { BigIntStats, Dirent } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import { versionOfFile } from '@lamina/slide';
import type { Logger } from 'pino';
import { type FolderTree, type GroupFolder, pathIn, type TreeEntry, type TreeTarget } from './folder-tree.ts';
import { isMissingFile } from './slide-roots.ts';

interface DiskTreeOptions {
  /** Absolute path of the slide folder. */
  readonly root: string;
  /** Called with the absolute path of a folder as its first argument. */
  readonly groupFiles: GroupFolder;
  readonly log: Logger;
}

/** Opens a slide folder; null when it does not exist. */
export async function readDiskTree({ root, groupFiles, log }: DiskTreeOptions): Promise<FolderTree | null> {
  const realRoot = await fs.realpath(root).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''; // stands for a missing folder
    throw error;
  });
  if (realRoot === '') return null;
  const absolutePathOf = (relativePath: string) => path.join(realRoot, relativePath);

  /** Returns the target of a link or folder; null when it is outside the slide folder or neither a file nor a folder. */
  async function resolveTarget(folder: string, name: string): Promise<TreeTarget | null> {
    const realPath = await fs.realpath(absolutePathOf(pathIn(folder, name)));
    if (!realPath.startsWith(realRoot + path.sep)) {
      log.warn(
        { folder: root, path: pathIn(folder, name) },
        'symbolic link at `path` in the slide folder ignored: its target is outside the slide folder',
      );
      return null;
    }
    const stats = await fs.stat(realPath, { bigint: true });
    const resolvedPath = path.relative(realRoot, realPath).split(path.sep).join('/');
    if (stats.isDirectory()) return { kind: 'folder', resolvedPath };
    if (!stats.isFile()) return null;
    return { kind: 'file', resolvedPath, ...filePropertiesOf(stats) };
  }

  return {
    async entriesOf(folder) {
      try {
        const entries = await fs.readdir(absolutePathOf(folder), { withFileTypes: true });
        const treeEntries = entries.flatMap((entry): TreeEntry[] => {
          const kind = kindOf(entry);
          return kind === null ? [] : [{ name: entry.name, kind }];
        });
        treeEntries.sort((a, b) => (a.name < b.name ? -1 : 1));
        return [
          ...treeEntries.filter(({ kind }) => kind !== 'link'),
          ...treeEntries.filter(({ kind }) => kind === 'link'),
        ];
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
        throw error;
      }
    },

    find: (folder, { name, kind }) =>
      nullIfMissing(async () => {
        // A link may have replaced the entry since the folder was listed: a folder is therefore checked like a link, and lstat below
        // does not follow links.
        if (kind !== 'file') {
          const target = await resolveTarget(folder, name);
          return kind === 'link' || target?.kind === 'folder' ? target : null;
        }
        const resolvedPath = pathIn(folder, name);
        const stats = await fs.lstat(absolutePathOf(resolvedPath), { bigint: true });
        if (!stats.isFile()) return null;
        return { kind, resolvedPath, ...filePropertiesOf(stats) };
      }),

    allBelow: (folder) =>
      nullIfMissing(async () => {
        // First the folder itself, then its files sorted by path: `fingerprintOfFiles` in @lamina/slide combines them in this order.
        const folderPath = `${absolutePathOf(folder)}${path.sep}`;
        const entries = await fs.readdir(folderPath, { recursive: true, withFileTypes: true });
        const files = entries.filter((entry) => entry.isFile());
        const filePaths = files.map(({ parentPath, name }) => path.join(parentPath, name)).sort();
        const allPaths = [folderPath, ...filePaths];
        const stats = await Promise.all(allPaths.map((entryPath) => fs.stat(entryPath, { bigint: true })));
        const sizeBytes = stats.slice(1).reduce((sum, { size }) => sum + Number(size), 0); // without the folder itself
        return { sizeBytes, versions: stats.map(versionOfFile) };
      }),

    read: (resolvedPath, offset, length) =>
      nullIfMissing(async () => {
        const file = await fs.open(absolutePathOf(resolvedPath));
        try {
          const { buffer, bytesRead } = await file.read(new Uint8Array(length), 0, length, offset);
          return buffer.subarray(0, bytesRead);
        } finally {
          await file.close();
        }
      }),

    group: (folder, names) => groupFiles(absolutePathOf(folder), names),
  };
}

function filePropertiesOf(stats: BigIntStats) {
  // A copied file may keep an old modification time; the change time is that of the copy, and also changes at a rename.
  const changedAt = Number(stats.mtimeMs > stats.ctimeMs ? stats.mtimeMs : stats.ctimeMs);
  return { size: Number(stats.size), version: versionOfFile(stats), changedAt };
}

/** Returns the kind of an entry; null for pipes and devices. */
function kindOf(entry: Dirent): TreeEntry['kind'] | null {
  if (entry.isSymbolicLink()) return 'link';
  if (entry.isDirectory()) return 'folder';
  return entry.isFile() ? 'file' : null;
}

async function nullIfMissing<T>(read: () => Promise<T>): Promise<T | null> {
  try {
    return await read();
  } catch (error) {
    if (isMissingFile(error)) return null;
    throw error;
  }
}
