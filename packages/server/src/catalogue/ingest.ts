/**
 * Ingests slide files. A scan adds catalogue entries for new files, marks the entries of missing files, and enqueues a
 * job for each new or changed slide. In the job, a render worker (a separate process that decodes slides) reads the
 * properties of the slide. The fingerprint of a slide is a hash of the versions of its files.
 */
import fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { type Jobs, RetryLater } from '../jobs/jobs.ts';
import type { Config } from '../platform/config.ts';
import { readBucketTree } from '../slide-storage/bucket-tree.ts';
import { readDiskTree } from '../slide-storage/disk-tree.ts';
import type { FolderTree } from '../slide-storage/folder-tree.ts';
import type { ObjectStore } from '../slide-storage/object-storage.ts';
import { type FolderRoot, slideRoots } from '../slide-storage/slide-roots.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { findImage, type ImageChanges, type ImageRow, updateImage } from '../store/images.ts';
import { deleteRemovedMetadataFiles, listMetadataFiles } from '../store/metadata-files.ts';
import type { Inspection, SlideSummary, Slides } from '../tiles/slides.ts';
import { usedScale } from './image-scale.ts';
import { type RootScan, reconcile } from './reconcile.ts';
import { reconcileCases } from './reconcile-cases.ts';
import { serverActor } from './reconciled-images.ts';
import { createScanner, type Scanner } from './scan.ts';

/** The work of the jobs `rescan`, `rescan-bucket` and `read-slide`; the job queue decides when and in which process they run. */
export interface Ingest {
  /**
   * Scans the folders or the bucket, and enqueues the jobs that read new and changed files. Two scans of the same storage
   * never run at the same time.
   *
   * @param where `folders` means the slide folder, and the folders of demonstration slides and of uploads
   * @param options with `retryFailed`, files that could not be read before are read again
   * @returns whether the scan could read all folders
   */
  rescan(
    where: 'folders' | 'bucket',
    options: { readonly retryFailed: boolean },
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Reads the files of an entry.
   *
   * @param options with `again`, files are read even if they have already been read and have not changed
   * @throws RetryLater (the job then runs again) when the files changed during the read, or could not be read now
   */
  read(imageId: string, options: { readonly again: boolean }, signal: AbortSignal): Promise<void>;
  /** Aborts the grouping of files and the listing of the bucket, for which running scans wait. */
  close(): void;
}

interface IngestDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  readonly slides: Slides;
  /** The bucket; null when the settings name none. */
  readonly store: ObjectStore | null;
  readonly jobs: Pick<Jobs, 'enqueue'>;
  /** Called with the listing after each scan of the bucket; searches the listing for result files of analysis programs. */
  readonly onBucketListed: (tree: FolderTree, signal: AbortSignal) => Promise<void>;
  /** Called after an entry has changed, so that caches evict it. */
  readonly onChange: (imageId: string) => void;
}

/** Maximum time for which processes cache the properties of an object in the bucket (see `ObjectReader.head`). */
const objectCacheMs = 600;

export function createIngest(dependencies: IngestDependencies): Ingest {
  const { config, db, now, log, audit, slides, store, jobs, onChange } = dependencies;
  const closing = new AbortController();
  /** Returns which files of a folder form slides together; a render worker reads the files. */
  const groupFolder = (folder: string, names: readonly string[]) =>
    slides.group({ path: folder }, names, closing.signal);
  const folders = Object.entries(slideRoots(config)) as [FolderRoot, string][];
  const scanners: readonly {
    readonly root: FolderRoot;
    readonly folder: string;
    readonly scanner: Scanner;
  }[] = folders.map(([root, folder]) => ({
    root,
    folder,
    scanner: createScanner({
      root,
      readTree: () => readDiskTree({ root: folder, groupFiles: groupFolder, log }),
      log,
    }),
  }));

  /** The listing of the bucket during a scan, for `onBucketListed`; null at other times. */
  let bucketTree: FolderTree | null = null;
  const bucketScanner =
    store === null
      ? null
      : createScanner({
          root: 'bucket',
          readTree: async () => {
            bucketTree = await readBucketTree({
              store,
              groupFiles: (folder, names) =>
                slides.group({ path: folder, isObject: true }, names, closing.signal),
              signal: closing.signal,
            });
            return bucketTree;
          },
          log,
        });

  /** Scans the folders, one after the other. */
  async function scanFolders(signal: AbortSignal): Promise<RootScan[]> {
    const scans: RootScan[] = [];
    for (const { root, folder, scanner } of scanners) {
      signal.throwIfAborted();
      // If the database is shared, another machine may have this folder, so entries of a folder that is missing here stay.
      if (config.databaseUrl !== null && !fs.existsSync(folder)) continue;
      scans.push({ root, ...(await scanner.scan(await listMetadataFiles(db, root))) });
    }
    return scans;
  }

  /** Scans the folders or the bucket, updates the catalogue, and enqueues the jobs that read files. See `Ingest.rescan`. */
  async function scanAll(
    where: 'folders' | 'bucket',
    retryFailed: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const startedAt = performance.now();
    let scans: RootScan[] = [];
    await deleteRemovedMetadataFiles(db);
    if (where === 'folders') scans = await scanFolders(signal);
    else if (bucketScanner !== null) {
      scans = [{ root: 'bucket', ...(await bucketScanner.scan(await listMetadataFiles(db, 'bucket'))) }];
    }
    signal.throwIfAborted();
    const { toRead: idsToRead, changed: changedIds } = await reconcile(
      { db, now, log, audit, fingerprintOf: slides.fingerprintOf },
      scans,
      { retryFailed },
    );
    for (const id of changedIds) onChange(id);
    await reconcileCases({ db, now, log, audit }, scans);
    if (idsToRead.length > 0) {
      // During this wait, the caches of object properties expire, so that the jobs read the current objects.
      if (where === 'bucket') await wait(objectCacheMs, undefined, { signal });
      await jobs.enqueue(
        'read-slide',
        // Without `again`, the job would skip files that failed before and have not changed.
        idsToRead.map((imageId) => ({ imageId, again: retryFailed })),
      );
    }
    if (where === 'bucket' && bucketTree !== null) await dependencies.onBucketListed(bucketTree, signal);
    const isNotable = retryFailed || idsToRead.length > 0 || changedIds.length > 0; // `retryFailed` is true for the scan at the start of the server
    log[isNotable ? 'info' : 'debug'](
      {
        scanned: where,
        durationMs: Math.round(performance.now() - startedAt),
        foundSlides: scans.reduce((sum, scan) => sum + scan.slides.length, 0),
        slidesToRead: idsToRead.length,
        changedEntries: changedIds.length,
      },
      'slide scan finished',
    );
    return scans.every(({ unread }) => unread.length === 0);
  }

  async function read(imageId: string, again: boolean, signal: AbortSignal): Promise<void> {
    const row = await findImage(db, imageId);
    if (row === null) return; // no entry, or one that is marked as missing; if the file reappears, a later scan finds it
    const file = { id: row.id, root: row.root, path: row.path, members: JSON.parse(row.members) as string[] };
    const fingerprint = await slides.fingerprintOf(file);
    if (fingerprint === null) return; // the file is missing; the next scan marks its entry
    const isAlreadyRead = row.status !== 'pending' && row.fingerprint === fingerprint;
    if (isAlreadyRead && !again) return; // another process has read it
    const inspection = await slides.inspect(file, signal);
    if (inspection.status === 'postponed')
      throw new RetryLater('The slide file could not be read; the job tries again later.');
    await runLockedTransaction(db, 'catalogue', async (tx) => {
      const before = await findImage(tx, file.id);
      // An administrator may have entered a scale while the file was being read, so the entry is read again.
      const changes = changesAfterInspection(inspection, fingerprint, before ?? row);
      const after = await updateImage(tx, file.id, changes, now().toISOString());
      // An unreadable file is read again at each start of the server, but the same failure gets only one audit event.
      const isChanged = before?.fingerprint !== after?.fingerprint || before?.status !== after?.status;
      if (after === null || !isChanged) return;
      const result = after.status === 'ready' ? 'done' : 'failed';
      await audit.record(tx, {
        ...serverActor,
        action: 'image-imported',
        result,
        target: file.id,
        detail: { file_name: after.file_name },
      });
    });
    onChange(file.id);
    // If a scan notices a change during the read, it enqueues no second job for the slide. Therefore this job must run again.
    if ((await slides.fingerprintOf(file)) !== fingerprint) {
      throw new RetryLater('The slide file changed during the read; the job reads it again.');
    }
  }

  return {
    async rescan(where, { retryFailed }, signal) {
      try {
        return await scanAll(where, retryFailed, signal);
      } finally {
        if (where === 'bucket') bucketTree = null; // also after a failure, so that no later scan uses this listing
      }
    },
    read: (imageId, { again }, signal) => read(imageId, again, signal),
    close: () => closing.abort(),
  };
}

/**
 * Returns the changes to an entry after a render worker has inspected its file.
 *
 * @param fingerprint fingerprint before the inspection; stored with a failure, so that the file is read again when it changes
 */
function changesAfterInspection(
  inspection: Exclude<Inspection, { status: 'postponed' }>,
  fingerprint: string,
  { entered_mpp, entered_objective_power }: Pick<ImageRow, 'entered_mpp' | 'entered_objective_power'>,
): ImageChanges {
  if (inspection.status === 'failed') {
    const { error, code } = inspection;
    return { ...emptyFileColumns, fingerprint, status: 'failed', error, error_code: code };
  }
  const { summary } = inspection;
  const fileColumns = fileColumnsOf(summary);
  return {
    ...fileColumns,
    ...usedScale({ ...fileColumns, entered_mpp, entered_objective_power }),
    fingerprint: summary.fingerprint,
    status: 'ready',
    error: null,
    error_code: null,
  };
}

/** The values, for a file that could not be read, of the columns that come from the file or are derived from its scale. */
const emptyFileColumns = {
  width: null,
  height: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  derived_scale: null,
  file_mpp_x: null,
  file_mpp_y: null,
  file_objective_power: null,
  plane: null,
  planes: null,
  times: null,
  vendor: null,
  format: null,
} as const satisfies ImageChanges;

type FileColumns = Required<Pick<ImageChanges, keyof typeof emptyFileColumns>>;

/** Returns the columns that come from the file, without those that `usedScale` computes. None of them can identify a patient. */
function fileColumnsOf(summary: SlideSummary): Omit<FileColumns, keyof ReturnType<typeof usedScale>> {
  const { mpp, objectivePower, shownPlane } = summary;
  return {
    width: summary.width,
    height: summary.height,
    file_mpp_x: mpp?.x ?? null,
    file_mpp_y: mpp?.y ?? null,
    file_objective_power: objectivePower,
    plane: shownPlane?.plane ?? null, // number of the shown focal plane, from 1
    planes: shownPlane?.planes ?? null, // number of focal planes
    times: shownPlane?.times ?? null, // number of time points
    vendor: summary.vendor,
    format: summary.format,
  };
}
