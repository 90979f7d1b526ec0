/**
 * Brings the catalogue in step with the slide folders: new files become entries, files that are gone are
 * marked, and what is new or changed is asked for to be read: one file at a time, in a process of its own.
 */
import fs from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { Audit } from '../audit.ts';
import type { Config } from '../config.ts';
import { type Jobs, NotYet } from '../jobs/jobs.ts';
import { lookAtBucket } from '../slides/bucket-tree.ts';
import { lookAtDisk } from '../slides/disk-tree.ts';
import type { ObjectStore } from '../slides/object-storage.ts';
import { type FolderRoot, slideRoots } from '../slides/slide-roots.ts';
import type { Inspection, SlideSummary, Slides } from '../slides/slides.ts';
import { change, type Database } from '../store/database.ts';
import { findImage, type ImageChanges, updateImage } from '../store/images.ts';
import { createScanner, type Scanner } from './scan.ts';
import { byServer, type RootScan, takeIn } from './take-in.ts';

/** The work itself; who does it when is a matter of the jobs. */
export interface Intake {
  /**
   * Resolves when every file has its entry, and what has to be read has been asked for. Never two at a time in the same
   * places.
   *
   * @returns whether all could be looked at
   */
  rescan(
    where: 'folders' | 'bucket',
    options: { readonly retryFailed: boolean },
    signal: AbortSignal,
  ): Promise<boolean>;
  /**
   * Reads the files of an entry.
   *
   * @param options `again`: whatever was read of them before
   * @throws NotYet when they could not be read for another reason than themselves
   */
  read(imageId: string, options: { readonly again: boolean }, signal: AbortSignal): Promise<void>;
  close(): void;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  readonly slides: Slides;
  /** Null: slides lie in folders alone. */
  readonly store: ObjectStore | null;
  readonly jobs: Pick<Jobs, 'ask'>;
  /** Called after an entry has changed: what was known of it is not to be served any more. */
  readonly onChange: (imageId: string) => void;
}

/** Longer than a process believes what it has heard of an object: see `ObjectReader.head`. */
const objectsBelievedForMs = 600;

export function createIntake(ground: Ground): Intake {
  const { config, db, now, log, audit, slides, store, jobs, onChange } = ground;
  const closing = new AbortController();
  const lookInto = (folder: string, names: readonly string[]) =>
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
      look: () => lookAtDisk({ root: folder, lookInto, log }),
      log: log.child({ root }),
    }),
  }));

  const bucket =
    store === null
      ? null
      : createScanner({
          look: () =>
            lookAtBucket({
              store,
              lookInto: (folder, names) =>
                slides.group({ path: folder, isObject: true }, names, closing.signal),
              signal: closing.signal,
            }),
          log: log.child({ root: 'bucket' }),
        });

  async function scanFolders(signal: AbortSignal): Promise<RootScan[]> {
    const scans: RootScan[] = [];
    for (const { root, folder, scanner } of scanners) {
      signal.throwIfAborted();
      // Another process that shares the catalogue may see what this one does not: then this one says nothing of it.
      if (config.databaseUrl !== null && !fs.existsSync(folder)) continue;
      scans.push({ root, ...(await scanner.scan()) });
    }
    return scans;
  }

  async function scanAll(
    where: 'folders' | 'bucket',
    retryFailed: boolean,
    signal: AbortSignal,
  ): Promise<boolean> {
    const startedAt = performance.now();
    let scans: RootScan[] = [];
    if (where === 'folders') scans = await scanFolders(signal);
    else if (bucket !== null) scans = [{ root: 'bucket', ...(await bucket.scan()) }];
    signal.throwIfAborted();
    const { toRead, changed } = await takeIn(
      { db, now, log, audit, fingerprintOf: slides.fingerprintOf },
      scans,
      {
        retryFailed,
      },
    );
    for (const id of changed) onChange(id);
    if (toRead.length > 0) {
      // By then nobody believes of an object what it was before it was listed.
      if (where === 'bucket') await wait(objectsBelievedForMs, undefined, { signal });
      await jobs.ask(
        'read-slide',
        toRead.map((imageId) => ({ imageId, again: retryFailed })),
      );
    }
    // Once at each start, and whenever something has come of it.
    log[retryFailed || toRead.length > 0 || changed.length > 0 ? 'info' : 'debug'](
      {
        where,
        ms: Math.round(performance.now() - startedAt),
        slides: scans.reduce((sum, scan) => sum + scan.slides.length, 0),
        toRead: toRead.length,
        changed: changed.length,
      },
      'looked through for slides',
    );
    return scans.every(({ unread }) => unread.length === 0);
  }

  async function read(imageId: string, again: boolean, signal: AbortSignal): Promise<void> {
    const row = await findImage(db, imageId);
    if (row === null) return; // gone; should it come back, a rescan finds it
    const file = { id: row.id, root: row.root, path: row.path, members: JSON.parse(row.members) as string[] };
    const fingerprint = await slides.fingerprintOf(file);
    if (fingerprint === null) return; // gone, too
    const isRead = row.status !== 'pending' && row.fingerprint === fingerprint;
    if (isRead && !again) return; // by somebody else, meanwhile
    const inspection = await slides.inspect(file, signal);
    if (inspection.status === 'postponed') throw new NotYet('The file could not be read now.');
    const changes = changesBy(inspection, fingerprint);
    await change(db, 'catalogue', async (tx) => {
      const before = await findImage(tx, file.id);
      const after = await updateImage(tx, file.id, changes, now().toISOString());
      // A file that cannot be read is tried again at every start; that it still cannot is not told again.
      const isNews = before?.fingerprint !== after?.fingerprint || before?.status !== after?.status;
      if (after === null || !isNews) return;
      const result = after.status === 'ready' ? 'done' : 'failed';
      await audit.record(tx, {
        ...byServer,
        action: 'image-imported',
        result,
        target: file.id,
        detail: { file_name: after.file_name },
      });
    });
    onChange(file.id);
    // While this was under way nobody else was asked to.
    if ((await slides.fingerprintOf(file)) !== fingerprint) {
      throw new NotYet('The file has changed while it was read.');
    }
  }

  return {
    rescan: (where, { retryFailed }, signal) => scanAll(where, retryFailed, signal),
    read: (imageId, { again }, signal) => read(imageId, again, signal),
    close: () => closing.abort(),
  };
}

function changesBy(
  inspection: Exclude<Inspection, { status: 'postponed' }>,
  fingerprint: string,
): ImageChanges {
  if (inspection.status === 'failed') {
    return { ...nothingRead, fingerprint, status: 'failed', error: inspection.error };
  }
  const { summary } = inspection;
  return { ...factsOf(summary), fingerprint: summary.fingerprint, status: 'ready', error: null };
}

const nothingRead = {
  width: null,
  height: null,
  mpp_x: null,
  mpp_y: null,
  objective_power: null,
  derived_scale: null,
  vendor: null,
  format: null,
} as const satisfies ImageChanges;

/** The allow-list of what a file may say of itself: nothing that can name a patient. */
function factsOf(summary: SlideSummary): Pick<ImageChanges, keyof typeof nothingRead> {
  const { scale } = summary;
  return {
    width: summary.width,
    height: summary.height,
    mpp_x: scale.mpp?.x ?? null,
    mpp_y: scale.mpp?.y ?? null,
    objective_power: scale.objectivePower,
    derived_scale: scale.derived === 'objectivePower' ? 'objective_power' : scale.derived,
    vendor: summary.vendor,
    format: summary.format,
  };
}
