/**
 * Processes uploads in the background: verifies the checksums of received files, moves complete uploads to the slide storage
 * ("places" them), and deletes abandoned ones. Any process that shares the data folder can do this. While a process works on an
 * upload or file, it holds a lease (`leased_until` in the database), so no other process does the same work.
 */
import fs from 'node:fs/promises';
import path from 'node:path';
import { AppError, uploadExpiryHours } from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditRecorder } from '../audit/audit-recorder.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
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
  deleteUnfinishedUpload,
  findUpload,
  listUnfinishedUploads,
  type UploadRow,
  updateUpload,
} from '../store/uploads.ts';
import { hashFile } from './hash-file.ts';
import type { PartStore } from './part-store.ts';
import type { UploadDestination } from './upload-destination.ts';
import { auditEntryOf, type Sender } from './upload-entry.ts';

export interface UploadProcessor {
  /** Starts verifying all received files, one after the other, unless another process verifies them. Returns at once. */
  startProcessing(): void;
  /**
   * Deletes an upload and its files, unless it is stored or being stored.
   *
   * @param sender null when the upload expired
   * @throws AppError upload_ended
   */
  abandon(row: UploadRow, sender: Sender | null): Promise<void>;
  /** Continues the unfinished work of earlier processes, and deletes expired uploads: now and every 10 minutes. */
  start(): void;
  /** Resolves when this process is neither verifying an upload nor moving one to the slide storage. */
  settled(): Promise<void>;
  /** Aborts running work. Resolves when it has ended. */
  close(): Promise<void>;
}

interface UploadProcessorDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  /** Folder of received files and of folders that are being assembled. */
  readonly partialFolder: string;
  readonly parts: PartStore;
  readonly destination: UploadDestination;
  /** Aborts running work. */
  readonly closing: AbortController;
  /** Called after an upload was moved to the slide storage (folder or bucket). */
  readonly onPlaced: () => void;
}

/** Duration of a lease. A process renews its lease every 20 s; one that has not done so for 60 s is assumed dead. */
const leaseMs = 60_000;
const cleanUpEveryMs = 10 * 60_000;
const expiryMs = uploadExpiryHours * 3_600_000;
/** Time for which completed uploads stay in the list. */
const keepDoneMs = 3 * 24 * 3_600_000;

/** The function is long because its inner functions share the leases and the state of the running work. */
export function createUploadProcessor({
  db,
  now,
  log,
  audit,
  partialFolder,
  parts,
  destination,
  closing,
  onPlaced,
}: UploadProcessorDependencies): UploadProcessor {
  let cleanUpTimer: NodeJS.Timeout | null = null;
  let processing: Promise<void> | null = null;
  let cleanUpDone: Promise<void> = Promise.resolve();
  let hasNewWork = false; // set by `startProcessing`, cleared when a search for files begins
  /** Upload of the file that is being processed, for the log; null while none is. */
  let currentUploadId: string | null = null;

  const assemblyFolderOf = (uploadId: string) => path.join(partialFolder, `folder-${uploadId}`);
  const leaseFrom = (at: Date) => ({
    now: at.toISOString(),
    until: new Date(at.getTime() + leaseMs).toISOString(),
  });

  async function abandon(row: UploadRow, sender: Sender | null): Promise<void> {
    const files = await listUploadFiles(db, row.id);
    await runLockedTransaction(db, 'uploads', async (tx) => {
      await deleteUploadFiles(tx, row.id);
      if (!(await deleteUnfinishedUpload(tx, row.id, now().toISOString())))
        throw new AppError('upload_ended');
      await audit.record(tx, auditEntryOf('upload-abandoned', row, sender));
    });
    for (const { id } of files) await parts.discard(id);
    await fs.rm(assemblyFolderOf(row.id), { recursive: true, force: true });
  }

  /** Abandons an expired upload, unless another process or its administrator has just ended it. */
  async function abandonExpired(row: UploadRow): Promise<void> {
    try {
      await abandon(row, null);
    } catch (error) {
      if (!(error instanceof AppError && error.code === 'upload_ended')) throw error;
    }
  }

  /** Starts processing. A run that is in progress looks for new files once more before it ends. */
  function startProcessing(): void {
    hasNewWork = true;
    if (processing !== null || closing.signal.aborted) return;
    processing = processFiles()
      .catch((error) =>
        log.error(
          { err: error, uploadId: currentUploadId },
          'processing of received upload files failed; the next upload or cleanup (every 10 minutes) continues it',
        ),
      )
      .finally(() => {
        processing = null;
        if (hasNewWork) startProcessing();
      });
  }

  async function processFiles(): Promise<void> {
    while (hasNewWork && !closing.signal.aborted) {
      hasNewWork = false;
      for (;;) {
        if (closing.signal.aborted) return;
        currentUploadId = null;
        const file = await claimUploadFile(db, leaseFrom(now()));
        if (file === null) break;
        currentUploadId = file.upload_id;
        await verify(file);
      }
    }
  }

  /** Runs work on an upload or one of its files, and renews the lease until the work ends. @param uploadId for the log */
  async function whileLeased<T>(
    uploadId: string,
    renew: (until: string) => Promise<void>,
    work: () => Promise<T>,
  ): Promise<T> {
    const timer = setInterval(() => {
      renew(leaseFrom(now()).until).catch((error) =>
        log.warn(
          { err: error, uploadId },
          'upload could not be marked in the database as being processed by this process; processing continues, but another process may do the same work again',
        ),
      );
    }, leaseMs / 3);
    try {
      return await work();
    } finally {
      clearInterval(timer);
    }
  }

  /** Compares the checksum of a file with the announced one. Stores the upload if this was its last file to verify. */
  async function verify(file: UploadFileRow): Promise<void> {
    let sha256: string;
    try {
      sha256 = await whileLeased(
        file.upload_id,
        (until) => updateUploadFile(db, file.id, { leased_until: until }),
        () => hashFile(parts.pathOf(file.id), closing.signal),
      );
    } catch (error) {
      if (closing.signal.aborted) return updateUploadFile(db, file.id, { leased_until: null });
      // The file may be in the data folder of another machine. When the lease ends, any process may try again.
      log.error(
        { err: error, uploadId: file.upload_id, fileId: file.id },
        'received file of an upload could not be read for its check; the server tries again in about a minute',
      );
      return;
    }
    if (sha256 === file.sha256) {
      await updateUploadFile(db, file.id, { state: 'checked', leased_until: null });
      await storeIfComplete(file.upload_id);
      return;
    }
    await updateUploadFile(db, file.id, { state: 'refused', leased_until: null });
    await updateUpload(db, file.upload_id, { problem: 'checksum', touched_at: now().toISOString() });
    await parts.discard(file.id);
    log.warn(
      { uploadId: file.upload_id, fileId: file.id },
      'uploaded file rejected because of a checksum mismatch; the client must send it again',
    );
  }

  async function storeIfComplete(uploadId: string): Promise<void> {
    const upload = await findUpload(db, uploadId);
    if (upload === null || upload.state === 'done') return;
    const { checked, bytes } = await countUploadFiles(db, uploadId);
    if (checked !== upload.file_count || bytes !== upload.size_bytes) return;
    const row = await claimUpload(db, uploadId, leaseFrom(now()));
    if (row === null) return; // another process is storing it
    const isRetry = upload.state === 'placing'; // an earlier process began to store it
    try {
      await whileLeased(
        uploadId,
        (until) => updateUpload(db, uploadId, { leased_until: until }),
        () => storeUpload(row, isRetry),
      );
    } catch (error) {
      log.error(
        { err: error, uploadId },
        'uploaded slide could not be moved to the slide storage; a later cleanup of uploads retries it',
      );
      // `touched_at` stays, so that an upload that can never be stored expires.
      await updateUpload(db, uploadId, { problem: 'storage', leased_until: null });
    }
  }

  async function storeUpload(row: UploadRow, isRetry: boolean): Promise<void> {
    const files = await listUploadFiles(db, row.id);
    const isStored = await destination.store({
      assemblyFolder: assemblyFolderOf(row.id),
      targetPath: `${row.dataset}/${row.path}`,
      isFolder: row.is_folder === 1,
      files: files.map((file) => ({
        receivedFile: parts.pathOf(file.id),
        path: file.path,
        sizeBytes: file.size_bytes,
      })),
      isRetry,
    });
    const at = now().toISOString();
    if (!isStored) {
      // The target path is taken.
      await updateUpload(db, row.id, {
        state: 'open',
        problem: 'exists',
        leased_until: null,
        touched_at: at,
      });
      return;
    }
    await runLockedTransaction(db, 'uploads', async (tx) => {
      // Without `place_key` the upload no longer reserves its target path.
      const done = { state: 'done', problem: null, place_key: null, leased_until: null } as const;
      await updateUpload(tx, row.id, { ...done, touched_at: at });
      await deleteUploadFiles(tx, row.id);
      await audit.record(tx, { ...auditEntryOf('upload-finished', row, null), actor: row.uid }); // no request, so no origin
    });
    for (const { id } of files) await parts.discard(id);
    onPlaced();
  }

  async function cleanUp(): Promise<void> {
    const at = now().getTime();
    for (const row of await listUnfinishedUploads(db)) {
      if (closing.signal.aborted) return;
      const isExpired = at - Date.parse(row.touched_at) > expiryMs;
      const isLeased = row.leased_until !== null && Date.parse(row.leased_until) >= at;
      const mayExpire = row.state === 'open' || (row.problem === 'storage' && !isLeased);
      // An upload whose target path is taken (`exists`) stays until its administrator or its expiry deletes it.
      if (mayExpire && isExpired) await abandonExpired(row);
      else if (row.problem !== 'exists') await storeIfComplete(row.id);
    }
    await deleteDoneUploads(db, new Date(at - keepDoneMs).toISOString());
    await deleteOrphanedFiles();
  }

  /** Deletes old files without a database row, left by a process that ended between creating the file and the row. */
  async function deleteOrphanedFiles(): Promise<void> {
    const namesInUse = new Set<string>();
    for (const row of await listUnfinishedUploads(db)) {
      namesInUse.add(path.basename(assemblyFolderOf(row.id)));
      for (const { id } of await listUploadFiles(db, row.id)) namesInUse.add(id);
    }
    for (const name of await fs.readdir(partialFolder).catch(() => [])) {
      if (namesInUse.has(name.replace(/\.json$/, ''))) continue; // FileStore stores the upload size in `<id>.json`
      const file = path.join(partialFolder, name);
      const stats = await fs.stat(file).catch(() => null); // another process may have deleted it
      if (stats === null || Date.now() - stats.mtimeMs < expiryMs) continue;
      await fs.rm(file, { recursive: true, force: true });
    }
  }

  function cleanUpInBackground(): void {
    cleanUpDone = cleanUpDone
      .then(cleanUp)
      .catch((error) =>
        log.error(
          { err: error, folder: partialFolder },
          'cleanup of unfinished uploads failed; it will be retried in 10 minutes',
        ),
      )
      .then(startProcessing);
  }

  async function settled(): Promise<void> {
    await cleanUpDone;
    while (processing !== null) await processing;
  }

  return {
    startProcessing,
    abandon,

    start() {
      cleanUpInBackground();
      cleanUpTimer = setInterval(cleanUpInBackground, cleanUpEveryMs).unref();
    },

    settled,

    async close() {
      closing.abort();
      if (cleanUpTimer !== null) clearInterval(cleanUpTimer);
      await settled();
    },
  };
}
