/**
 * The files of result layers (rasters or objects that analysis programs computed from slides). Imported files are in
 * DATA_DIR/results; files to import are in its folder `partial`.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import type { Database } from '../store/database.ts';
import { deleteResultLayerRow } from '../store/result-layers.ts';
import { PartStore } from '../uploads/part-store.ts';

export interface ResultFiles {
  readonly folder: string; // absolute path of DATA_DIR/results
  /** Received parts of files that clients upload, and files that an import downloads from the S3 bucket with the slides. */
  readonly parts: PartStore;
  /** Returns the absolute path of the imported file of a layer. */
  pathOf(layerId: string): string;
  /**
   * Runs an import of a layer.
   *
   * @param run gets the number of earlier imports of the layer that were interrupted because the process ended
   */
  whileImporting<T>(layerId: string, run: (interruptions: number) => Promise<T>): Promise<T>;
  /** Deletes the file of a layer and the received parts of its upload. */
  remove(layerId: string): Promise<void>;
  /** Registers a function that is called before this process deletes the file of a layer, so that readers can close the file. */
  onRemove(listener: (layerId: string) => void): void;
}

const extension = '.result';

export function resultFiles({ dataDir }: Pick<Config, 'dataDir'>): ResultFiles {
  const folder = path.join(dataDir, 'results');
  const parts = new PartStore({ directory: path.join(folder, 'partial') });
  const pathOf = (layerId: string) => path.join(folder, layerId + extension);
  /** Path of a file with one byte for each import of a layer that has begun and not ended. All processes of the installation share it. */
  const begunImportsPathOf = (layerId: string) => `${parts.pathOf(layerId)}.begun`;
  const listeners: ((layerId: string) => void)[] = [];
  return {
    folder,
    parts,
    pathOf,
    onRemove(listener) {
      listeners.push(listener);
    },
    async whileImporting(layerId, run) {
      await fs.mkdir(parts.directory, { recursive: true });
      const file = begunImportsPathOf(layerId);
      await fs.appendFile(file, '.');
      try {
        return await run((await fs.stat(file)).size - 1); // without the byte of this import
      } finally {
        await fs.rm(file, { force: true });
      }
    },
    async remove(layerId) {
      for (const listener of listeners) listener(layerId);
      await fs.rm(pathOf(layerId), { force: true });
      await fs.rm(begunImportsPathOf(layerId), { force: true });
      await parts.discard(layerId);
    },
  };
}

/** Deletes a layer with its files. */
export async function deleteResultLayer(db: Database, files: ResultFiles, layerId: string): Promise<void> {
  await deleteResultLayerRow(db, layerId);
  await files.remove(layerId);
}

/** Lists the ids of the layers that have an imported file. @param folder `ResultFiles.folder` */
export async function layersWithFile(folder: string): Promise<string[]> {
  const names = await fs.readdir(folder).catch(() => []); // the folder is missing before the first upload or import
  return names.filter((name) => name.endsWith(extension)).map((name) => name.slice(0, -extension.length));
}
