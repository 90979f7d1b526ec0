/**
 * What happens to uploads when nobody asks: files that have come are read and compared, what is whole is put where slides
 * lie, and what nobody has gone on with for long is given up. Any process that shares the data folder does it; a lease
 * keeps two from doing the same.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { AppError, type UploadProblem, uploadPatienceHours } from '@lamina/contract';
import type { Logger } from 'pino';
import type { Audit } from '../audit.ts';
import { change, type Database } from '../store/database.ts';
import {
  claimUploadFile,
  countUploadFiles,
  deleteUploadFiles,
  listUploadFiles,
  type UploadFileRow,
  updateUploadFile,
} from '../store/upload-files.ts';
import {
  claimUpload,
  deleteDoneUploads,
  deleteOpenUpload,
  findUpload,
  listUnfinishedUploads,
  type UploadRow,
  updateUpload,
} from '../store/uploads.ts';
import { hashFile } from './hash-file.ts';
import type { PartStore } from './part-store.ts';
import type { UploadDestination } from './upload-destination.ts';
import { entryOf, type Sender } from './upload-entry.ts';

export interface Finishing {
  /** Something has come, or may have: what there is to do is done, one after the other, by this process or another. */
  workOn(): void;
  /** Everything of it goes. @param by null: nobody has gone on with it. @throws AppError upload_ended */
  giveUp(row: UploadRow, by: Sender | null): Promise<void>;
  /** Takes up what was left lying about, now and from time to time. */
  start(): void;
  /** Resolves when nothing is being read or placed by this process. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Ground {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  /** Where parts and assemblies lie. */
  readonly partialFolder: string;
  readonly parts: PartStore;
  readonly destination: UploadDestination;
  /** Ends what is being read or placed. */
  readonly closing: AbortController;
  /** Something new lies where slides lie. */
  readonly onPlaced: () => void;
}

/** A process that has ended reads and places nothing any more, so much later. */
const leaseMs = 60_000;
const sweepEveryMs = 10 * 60_000;
const patienceMs = uploadPatienceHours * 3_600_000;
/** Uploads that are done are told of for so long. */
const rememberMs = 3 * 24 * 3_600_000;

export function createFinishing({
  db,
  now,
  log,
  audit,
  partialFolder,
  parts,
  destination,
  closing,
  onPlaced,
}: Ground): Finishing {
  let sweepTimer: NodeJS.Timeout | null = null;
  let working: Promise<void> | null = null;
  let sweeping: Promise<void> = Promise.resolve();
  let hasMore = false;

  const assemblyOf = (uploadId: string) => path.join(partialFolder, `folder-${uploadId}`);
  const leaseFrom = (at: Date) => ({
    now: at.toISOString(),
    until: new Date(at.getTime() + leaseMs).toISOString(),
  });

  async function giveUp(row: UploadRow, by: Sender | null): Promise<void> {
    const files = await listUploadFiles(db, row.id);
    await change(db, 'uploads', async (tx) => {
      await deleteUploadFiles(tx, row.id);
      if (!(await deleteOpenUpload(tx, row.id))) throw new AppError('upload_ended');
      await audit.record(tx, entryOf('upload-abandoned', row, by));
    });
    for (const { id } of files) await parts.discard(id);
    await fs.rm(assemblyOf(row.id), { recursive: true, force: true });
  }

  /** Whatever there is to read or to place is read and placed, one after the other. */
  function workOn(): void {
    hasMore = true;
    if (working !== null || closing.signal.aborted) return;
    working = workOff()
      .catch((error) => log.error({ err: error }, 'uploads could not be gone on with'))
      .finally(() => {
        working = null;
        if (hasMore) workOn();
      });
  }

  async function workOff(): Promise<void> {
    while (hasMore && !closing.signal.aborted) {
      hasMore = false;
      for (;;) {
        if (closing.signal.aborted) return;
        const file = await claimUploadFile(db, leaseFrom(now()));
        if (file === null) break;
        await check(file);
      }
    }
  }

  /** Goes on renewing the lease while the work lasts. */
  async function whileLeased<T>(renew: (until: string) => Promise<void>, work: () => Promise<T>): Promise<T> {
    const timer = setInterval(() => {
      renew(leaseFrom(now()).until).catch((error) =>
        log.warn({ err: error }, 'a lease could not be renewed'),
      );
    }, leaseMs / 3);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  async function check(file: UploadFileRow): Promise<void> {
    let sha256: string;
    try {
      sha256 = await whileLeased(
        (until) => updateUploadFile(db, file.id, { leased_until: until }),
        () => hashFile(parts.pathOf(file.id), closing.signal),
      );
    } catch (error) {
      if (closing.signal.aborted) return updateUploadFile(db, file.id, { leased_until: null });
      // It is tried again when the lease has ended; it may have come to another machine, with a folder of its own.
      log.error({ err: error, upload: file.upload_id }, 'a file that was uploaded could not be read');
      return;
    }
    if (sha256 === file.sha256) {
      await updateUploadFile(db, file.id, { state: 'checked', leased_until: null });
      await placeIfWhole(file.upload_id);
      return;
    }
    await updateUploadFile(db, file.id, { state: 'refused', leased_until: null });
    await setProblem(file.upload_id, 'checksum');
    await parts.discard(file.id);
    log.warn({ upload: file.upload_id }, 'an uploaded file is not what was sent');
  }

  async function placeIfWhole(uploadId: string): Promise<void> {
    const announced = await findUpload(db, uploadId);
    if (announced === null || announced.state === 'done') return;
    const { checked, bytes } = await countUploadFiles(db, uploadId);
    if (checked !== announced.file_count || bytes !== announced.size_bytes) return;
    const row = await claimUpload(db, uploadId, leaseFrom(now()));
    if (row === null) return; // somebody else is at it
    try {
      await whileLeased(
        (until) => updateUpload(db, uploadId, { leased_until: until }),
        () => place(row, announced.state === 'placing'),
      );
    } catch (error) {
      log.error({ err: error, upload: uploadId }, 'an upload could not be put where slides lie');
      await setProblem(uploadId, 'storage');
    }
  }

  async function setProblem(uploadId: string, problem: UploadProblem): Promise<void> {
    await updateUpload(db, uploadId, { problem, touched_at: now().toISOString() });
  }

  async function place(row: UploadRow, isAgain: boolean): Promise<void> {
    const files = await listUploadFiles(db, row.id);
    const isPlaced = await destination.place({
      assembly: assemblyOf(row.id),
      place: `${row.dataset}/${row.path}`,
      isFolder: row.is_folder === 1,
      files: files.map((file) => ({
        part: parts.pathOf(file.id),
        path: file.path,
        sizeBytes: file.size_bytes,
      })),
      isAgain,
    });
    const at = now().toISOString();
    if (!isPlaced) {
      await updateUpload(db, row.id, {
        state: 'open',
        problem: 'exists',
        leased_until: null,
        touched_at: at,
      });
      return;
    }
    await change(db, 'uploads', async (tx) => {
      const done = { state: 'done', problem: null, place_key: null, leased_until: null } as const;
      await updateUpload(tx, row.id, { ...done, touched_at: at });
      await deleteUploadFiles(tx, row.id);
      await audit.record(tx, { ...entryOf('upload-finished', row, null), actor: row.uid });
    });
    for (const { id } of files) await parts.discard(id);
    onPlaced();
  }

  async function sweep(): Promise<void> {
    const at = now().getTime();
    for (const row of await listUnfinishedUploads(db)) {
      if (closing.signal.aborted) return;
      const isStale = at - Date.parse(row.touched_at) > patienceMs;
      if (row.state === 'open' && isStale) await giveUp(row, null);
      else if (row.problem !== 'exists') await placeIfWhole(row.id);
    }
    await deleteDoneUploads(db, new Date(at - rememberMs).toISOString());
    await removeStrays();
  }

  /** What nobody knows of any more: the process ended between the file and its row. */
  async function removeStrays(): Promise<void> {
    const known = new Set<string>();
    for (const row of await listUnfinishedUploads(db)) {
      known.add(path.basename(assemblyOf(row.id)));
      for (const { id } of await listUploadFiles(db, row.id)) known.add(id);
    }
    for (const name of await fs.readdir(partialFolder).catch(() => [])) {
      if (known.has(name.replace(/\.json$/, ''))) continue;
      const place = path.join(partialFolder, name);
      const found = await fs.stat(place).catch(() => null); // gone meanwhile
      if (found === null || Date.now() - found.mtimeMs < patienceMs) continue;
      await fs.rm(place, { recursive: true, force: true });
    }
  }

  function sweepInBackground(): void {
    sweeping = sweeping
      .then(sweep)
      .catch((error) => log.error({ err: error }, 'unfinished uploads could not be looked through'))
      .then(workOn);
  }

  async function settled(): Promise<void> {
    await sweeping;
    while (working !== null) await working;
  }

  return {
    workOn,
    giveUp,

    start() {
      sweepInBackground();
      sweepTimer = setInterval(sweepInBackground, sweepEveryMs).unref();
    },

    settled,

    async close() {
      closing.abort();
      if (sweepTimer !== null) clearInterval(sweepTimer);
      await settled();
    },
  };
}
