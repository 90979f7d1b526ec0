/**
 * Uploads of slides from the browser. An administrator announces an upload (dataset, path, number and size of its files) and sends
 * its files in parts. The server verifies the checksums, and moves a complete upload to the slide storage. All state is in the
 * database and in the data folder, so any process that shares them can continue an upload. The file is long because all steps of an upload
 * share its row, its folder and the quota.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  AppError,
  type BodyOf,
  type beginUpload as beginUploadEndpoint,
  maxOpenUploads,
  type SlideUpload,
  type UploadFile,
  type UploadFileState,
  type User,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { AuditRecorder, Origin } from '../audit/audit-recorder.ts';
import { mayAddToDataset } from '../domain/dataset-access.ts';
import type { Config } from '../platform/config.ts';
import type { ObjectStorage } from '../slide-storage/object-storage.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import { spellingOf } from '../store/catalogue-names.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { sumQuotaUse } from '../store/quota.ts';
import {
  countUploadFiles,
  deleteUploadFile,
  findUploadFile,
  insertUploadFile,
  listUploadFiles,
  type UploadFileRow,
  updateUploadFile,
} from '../store/upload-files.ts';
import {
  findUpload,
  findUploadAt,
  insertUpload,
  isSameUpload,
  listImagesOfUpload,
  listUploadsOf,
  sumUnfinishedUploads,
  type UploadRow,
  updateUpload,
} from '../store/uploads.ts';
import { createBucketDestination } from './bucket-destination.ts';
import { createFolderDestination } from './folder-destination.ts';
import { PartStore } from './part-store.ts';
import { auditEntryOf, type Sender } from './upload-entry.ts';
import { datasetNameOf, folderNameOf, isSamePlace, namesOf, requireSlideName } from './upload-names.ts';
import { createUploadProcessor } from './upload-processor.ts';

export interface NewUploadFile {
  readonly uploadId: string;
  /** Path relative to the folder of the upload; for a single file, its name. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

/**
 * Methods get the administrator (`user`) who sends a request. If the request has an API token that is limited to datasets, uploads into
 * other datasets are treated as missing.
 */
export interface Uploads {
  /** Storage of the received bytes of files. */
  readonly parts: PartStore;
  /** Lists the uploads of an administrator. */
  list(user: User): Promise<SlideUpload[]>;
  /**
   * Begins an upload, or resumes it if this administrator has announced the same upload before.
   *
   * @throws AppError invalid_request, upload_exists, upload_too_large, quota_exceeded, storage_full,
   *   too_many_uploads
   */
  begin(
    sender: Sender,
    announced: BodyOf<typeof beginUploadEndpoint>,
  ): Promise<{ readonly upload: SlideUpload; readonly files: UploadFile[] }>;
  /** Deletes an upload and its files. @throws AppError not_found, upload_ended */
  abandon(user: User, uploadId: string, origin: Origin): Promise<void>;
  /**
   * Begins a file of an upload; a rejected or incomplete file with the same path is replaced.
   *
   * @returns the id of the file
   * @throws AppError invalid_request, not_found, upload_ended, storage_full
   */
  beginFile(user: User, file: NewUploadFile): Promise<string>;
  /** Returns a file with the number of received bytes. @throws AppError not_found */
  file(user: User, fileId: string): Promise<UploadFile & { readonly offset: number }>;
  /**
   * Checks that the next part of a file may be sent, and records that the upload makes progress.
   *
   * @param partBytes size of the part; 0 when it is unknown
   * @throws AppError not_found, upload_ended, storage_full
   */
  expectPart(user: User, fileId: string, partBytes: number): Promise<void>;
  /** Starts the verification of a completely sent file. @returns the file's state @throws AppError not_found, upload_incomplete */
  finishFile(user: User, fileId: string, sha256: string): Promise<UploadFileState>;
  /** Continues the unfinished work of earlier processes, and deletes expired uploads: now and every 10 minutes. */
  start(): void;
  /** Resolves when this process is neither verifying an upload nor moving one to the slide storage. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface UploadsDependencies {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: AuditRecorder;
  /** Storage of complete uploads; null stores them in a folder of the data folder. */
  readonly objectStorage: Pick<ObjectStorage, 'store'> | null;
  /** Called after an upload was moved to the slide storage (folder or bucket). */
  readonly onPlaced: () => void;
  /** Returns the free bytes on the disk of a folder. Default: asks the file system; tests replace it. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** Disk space that uploads leave free for other data, above all the database. */
const reserveBytes = 512 * 1024 ** 2;
/** Minimum interval between two updates of `touched_at`, the time of an upload's last progress. */
const touchEveryMs = 10 * 60_000;

/** The function is long because its inner functions share the dependencies and the checks. */
export function createUploads({
  config,
  db,
  now,
  log,
  audit,
  objectStorage,
  onPlaced,
  freeBytes = freeBytesOf,
}: UploadsDependencies): Uploads {
  const partialFolder = path.join(config.dataDir, 'uploads', 'partial');
  const parts = new PartStore({ directory: partialFolder });
  const closing = new AbortController();
  const destination =
    objectStorage === null
      ? createFolderDestination(slideRoots(config).uploads)
      : createBucketDestination(objectStorage.store, closing.signal);
  const processor = createUploadProcessor({
    db,
    now,
    log,
    audit,
    partialFolder,
    parts,
    destination,
    closing,
    onPlaced,
  });

  /**
   * Returns an upload of this account.
   *
   * @throws AppError not_found, also for an upload of another administrator, or into a dataset outside the limit of an API token
   */
  async function requireOwnUpload(user: User, uploadId: string): Promise<UploadRow> {
    const row = await findUpload(db, uploadId);
    if (row?.uid !== user.uid || !mayAddToDataset(user, row.dataset)) throw new AppError('not_found');
    return row;
  }

  /** Returns a file of an upload of this account. @throws AppError not_found, as `requireOwnUpload` */
  async function requireOwnFile(
    user: User,
    fileId: string,
  ): Promise<{ file: UploadFileRow; upload: UploadRow }> {
    const file = await findUploadFile(db, fileId);
    if (file === null) throw new AppError('not_found');
    return { file, upload: await requireOwnUpload(user, file.upload_id) };
  }

  /** Checks the free disk space. @throws AppError storage_full unless there is space for these bytes and the reserve */
  async function requireFreeSpace(bytes: number): Promise<void> {
    await fs.mkdir(partialFolder, { recursive: true });
    if ((await freeBytes(partialFolder)) < bytes + reserveBytes) throw new AppError('storage_full');
  }

  /** Returns the number of bytes that clients have announced for unfinished uploads, but not sent yet. */
  async function outstandingBytes(): Promise<number> {
    const { bytes } = await sumUnfinishedUploads(db);
    return Math.max(0, bytes - (await sumFileSizes(partialFolder)));
  }

  async function toSlideUpload(row: UploadRow): Promise<SlideUpload> {
    const isDone = row.state === 'done';
    const target = {
      root: destination.root,
      targetPath: `${row.dataset}/${row.path}`,
      isFolder: row.is_folder === 1,
    };
    const images = isDone ? await listImagesOfUpload(db, target) : [];
    return {
      id: row.id,
      dataset: row.dataset,
      path: row.path,
      is_folder: row.is_folder === 1,
      file_count: row.file_count,
      checked_count: isDone ? row.file_count : (await countUploadFiles(db, row.id)).checked,
      size_bytes: row.size_bytes,
      state: row.state,
      problem: row.problem,
      begun_at: row.begun_at,
      last_progress_at: row.touched_at,
      images: images.map(({ id, file_name, status, error, error_code }) => ({
        id,
        file_name,
        status,
        error,
        ...(error_code !== null && { error_code }),
      })),
    };
  }

  return {
    parts,

    async list(user) {
      const rows = await listUploadsOf(db, user.uid);
      return Promise.all(rows.filter(({ dataset }) => mayAddToDataset(user, dataset)).map(toSlideUpload));
    },

    async begin(sender, { dataset, path: requestedPath, is_folder: isFolder, file_count, size_bytes }) {
      const names = namesOf(requestedPath, 'path');
      if (!isFolder) requireSlideName(names.at(-1) ?? '');
      if (!isFolder && file_count !== 1) throw new AppError('invalid_request', { field: 'file_count' });
      const requestedDataset = datasetNameOf(dataset);
      // A dataset that exists in another spelling keeps that spelling, if a folder can have it as a name.
      const datasetName = folderNameOf(await spellingOf(db, 'dataset', requestedDataset)) ?? requestedDataset;
      if (size_bytes > config.uploadMaxBytes) throw new AppError('upload_too_large');
      const targetPath = names.join('/');
      const placeKey = `${datasetName}/${targetPath}`.toLowerCase(); // at most one unfinished upload may have it
      const at = now().toISOString();
      const isNew = (await findUploadAt(db, placeKey)) === null; // queried again in the transaction
      if (isNew) {
        if (await destination.isTaken(`${datasetName}/${targetPath}`)) throw new AppError('upload_exists');
        await requireFreeSpace(size_bytes + (await outstandingBytes()));
      }
      const row = await runLockedTransaction(db, 'uploads', async (tx) => {
        const existing = await findUploadAt(tx, placeKey);
        if (existing !== null) {
          const isSame = isSameUpload(existing, { isFolder, fileCount: file_count, sizeBytes: size_bytes });
          if (existing.uid !== sender.uid || !isSame) throw new AppError('upload_exists');
          // The client now sends the rejected file again, so the upload no longer has the problem `checksum`.
          const problem = existing.problem === 'checksum' ? null : existing.problem;
          await updateUpload(tx, existing.id, { touched_at: at, problem });
          return { ...existing, touched_at: at, problem };
        }
        const { usedBytes, unfinishedUploads } = await sumQuotaUse(tx);
        if (unfinishedUploads >= maxOpenUploads) throw new AppError('too_many_uploads');
        if (config.uploadQuotaBytes > 0 && usedBytes + size_bytes > config.uploadQuotaBytes) {
          throw new AppError('quota_exceeded');
        }
        const newUpload: UploadRow = {
          id: randomUUID(),
          uid: sender.uid,
          dataset: datasetName,
          path: targetPath,
          is_folder: isFolder ? 1 : 0,
          file_count,
          size_bytes,
          state: 'open',
          problem: null,
          place_key: placeKey,
          leased_until: null,
          begun_at: at,
          touched_at: at,
        };
        await insertUpload(tx, newUpload);
        await audit.record(tx, auditEntryOf('upload-begun', newUpload, sender));
        return newUpload;
      });
      const files = await listUploadFiles(db, row.id);
      return { upload: await toSlideUpload(row), files: files.map(toUploadFile) };
    },

    async abandon(user, uploadId, origin) {
      await processor.abandon(await requireOwnUpload(user, uploadId), { uid: user.uid, origin });
    },

    async beginFile(user, { uploadId, path: requestedPath, sizeBytes, modifiedMs }) {
      const upload = await requireOwnUpload(user, uploadId);
      if (upload.state !== 'open') throw new AppError('upload_ended');
      const filePath = namesOf(requestedPath, 'path').join('/');
      if (upload.is_folder === 0 && filePath !== path.posix.basename(upload.path)) {
        throw new AppError('invalid_request', { field: 'path' });
      }
      const id = randomUUID();
      await parts.begin(id, sizeBytes);
      try {
        const replacedFileId = await runLockedTransaction(db, 'uploads', async (tx) => {
          const current = await findUpload(tx, uploadId);
          if (current === null) throw new AppError('not_found'); // deleted since the check above
          const files = await listUploadFiles(tx, uploadId);
          const existing = files.find((file) => isSamePlace(file.path, filePath));
          if (existing !== undefined && existing.state !== 'open' && existing.state !== 'refused') {
            throw new AppError('upload_ended'); // only incomplete (`open`) and rejected files may be replaced
          }
          if (existing !== undefined) await deleteUploadFile(tx, existing.id);
          const others = await countUploadFiles(tx, uploadId);
          const isLast = others.files + 1 === upload.file_count;
          const totalBytes = others.bytes + sizeBytes;
          const isTooMuch = others.files >= upload.file_count || totalBytes > upload.size_bytes;
          if (isTooMuch || (isLast && totalBytes !== upload.size_bytes)) {
            throw new AppError('invalid_request', { reason: 'upload_differs' });
          }
          await insertUploadFile(tx, {
            id,
            upload_id: uploadId,
            path: filePath,
            size_bytes: sizeBytes,
            modified_ms: modifiedMs,
            sha256: null,
            state: 'open',
            leased_until: null,
          });
          return existing?.id ?? null;
        });
        if (replacedFileId !== null) await parts.discard(replacedFileId);
      } catch (error) {
        await parts.discard(id);
        throw error;
      }
      return id;
    },

    async file(user, fileId) {
      const { file } = await requireOwnFile(user, fileId);
      const receivedBytes = file.state === 'open' ? await parts.received(fileId) : file.size_bytes;
      if (receivedBytes === null) throw new AppError('not_found');
      return { ...toUploadFile(file), offset: receivedBytes };
    },

    async expectPart(user, fileId, partBytes) {
      const { file, upload } = await requireOwnFile(user, fileId);
      if (file.state !== 'open' || upload.state !== 'open') throw new AppError('upload_ended');
      await requireFreeSpace(partBytes);
      const at = now();
      if (at.getTime() - Date.parse(upload.touched_at) > touchEveryMs) {
        await updateUpload(db, upload.id, { touched_at: at.toISOString() });
      }
    },

    async finishFile(user, fileId, sha256) {
      const { file, upload } = await requireOwnFile(user, fileId);
      if (file.state !== 'open') return file.state;
      if ((await parts.received(fileId)) !== file.size_bytes) throw new AppError('upload_incomplete');
      await updateUploadFile(db, fileId, { state: 'checking', sha256 });
      await updateUpload(db, upload.id, { touched_at: now().toISOString() });
      processor.startProcessing();
      return 'checking';
    },

    start: processor.start,
    settled: processor.settled,
    close: processor.close,
  };
}

function toUploadFile(row: UploadFileRow): UploadFile {
  return {
    id: row.id,
    path: row.path,
    size_bytes: row.size_bytes,
    modified_ms: row.modified_ms,
    state: row.state,
  };
}

async function freeBytesOf(folder: string): Promise<number> {
  const { bavail, bsize } = await fs.statfs(folder);
  return bavail * bsize;
}

/** Returns the total bytes of the files below a folder. A missing folder, or a file deleted during the call, counts 0. */
async function sumFileSizes(folder: string): Promise<number> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const stats = await fs.stat(path.join(entry.parentPath, entry.name)).catch(() => null);
    sum += stats?.size ?? 0;
  }
  return sum;
}
