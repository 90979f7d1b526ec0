/**
 * Slides that administrators send from the browser: announced, received in parts, read once to compare the checksum, and
 * put where slides lie when all that belongs together is there. Nothing of it is in memory: any process that shares the
 * data folder goes on with what another one began.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import {
  AppError,
  type BodyOf,
  type beginUpload as beginUploadEndpoint,
  type InBothLanguages,
  maxOpenUploads,
  type SlideUpload,
  type UploadFile,
  type UploadFileState,
} from '@lamina/contract';
import type { Logger } from 'pino';
import type { Audit } from '../audit.ts';
import type { Config } from '../config.ts';
import type { ObjectStorage } from '../slides/object-storage.ts';
import { slideRoots } from '../slides/slide-roots.ts';
import { change, type Database } from '../store/database.ts';
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
  listImagesAt,
  listUploadsOf,
  sumAnnounced,
  sumUploadedSlides,
  type UploadRow,
  updateUpload,
} from '../store/uploads.ts';
import { createFinishing } from './finish-uploads.ts';
import { PartStore } from './part-store.ts';
import { createBucketDestination } from './place-in-bucket.ts';
import { createFolderDestination } from './place-in-folder.ts';
import { entryOf, type Sender } from './upload-entry.ts';
import { datasetNameOf, isSamePlace, namesOf, requireSlideName } from './upload-names.ts';

export interface NewUploadFile {
  readonly uploadId: string;
  /** Below the folder; of a single file its name. */
  readonly path: string;
  readonly sizeBytes: number;
  readonly modifiedMs: number;
}

export interface Uploads {
  /** Where the parts of files gather. */
  readonly parts: PartStore;
  /** The sender's own. */
  list(uid: string): Promise<SlideUpload[]>;
  /**
   * The same that is announced again is gone on with.
   *
   * @throws AppError invalid_request, upload_exists, upload_too_large, quota_exceeded, storage_full, too_many_uploads
   */
  begin(
    sender: Sender,
    announced: BodyOf<typeof beginUploadEndpoint>,
  ): Promise<{ readonly upload: SlideUpload; readonly files: UploadFile[] }>;
  /** @throws AppError not_found, upload_ended */
  abandon(sender: Sender, uploadId: string): Promise<void>;
  /** @returns its id. @throws AppError invalid_request, not_found, upload_ended, storage_full */
  beginFile(uid: string, file: NewUploadFile): Promise<string>;
  /** @throws AppError not_found */
  file(uid: string, fileId: string): Promise<UploadFile & { readonly offset: number }>;
  /**
   * Before a part of a file is taken.
   *
   * @param partBytes what is about to come; 0 when that is not said
   * @throws AppError not_found, upload_ended, storage_full
   */
  expectPart(uid: string, fileId: string, partBytes: number): Promise<void>;
  /** Has the whole file read and compared. @throws AppError not_found, upload_incomplete */
  finishFile(uid: string, fileId: string, sha256: string): Promise<UploadFileState>;
  /** Takes up what was left lying about, now and from time to time. */
  start(): void;
  /** Resolves when nothing is being read or placed by this process. */
  settled(): Promise<void>;
  close(): Promise<void>;
}

interface Ground {
  readonly config: Config;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly audit: Audit;
  /** Where finished uploads go; null: below the data folder. */
  readonly objectStorage: Pick<ObjectStorage, 'store'> | null;
  /** Something new lies where slides lie. */
  readonly onPlaced: () => void;
  /** Bytes that are free on the disk of a folder. */
  readonly freeBytes?: (folder: string) => Promise<number>;
}

/** Kept free for all else that the disk is needed for: the database above all. */
const reserveBytes = 512 * 1024 ** 2;
/** How often it is written down that something came. */
const touchEveryMs = 10 * 60_000;

export function createUploads({
  config,
  db,
  now,
  log,
  audit,
  objectStorage,
  onPlaced,
  freeBytes = freeBytesOf,
}: Ground): Uploads {
  const partialFolder = path.join(config.dataDir, 'uploads', 'partial');
  const parts = new PartStore({ directory: partialFolder });
  const closing = new AbortController();
  const destination =
    objectStorage === null
      ? createFolderDestination(slideRoots(config).uploads)
      : createBucketDestination(objectStorage.store, closing.signal);
  const finishing = createFinishing({
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

  /** @throws AppError not_found, also for what somebody else sends */
  async function ownUpload(uid: string, uploadId: string): Promise<UploadRow> {
    const row = await findUpload(db, uploadId);
    if (row === null || row.uid !== uid) throw new AppError('not_found');
    return row;
  }

  /** @throws AppError not_found, also for what somebody else sends */
  async function ownFile(uid: string, fileId: string): Promise<{ file: UploadFileRow; upload: UploadRow }> {
    const file = await findUploadFile(db, fileId);
    if (file === null) throw new AppError('not_found');
    return { file, upload: await ownUpload(uid, file.upload_id) };
  }

  async function requireRoom(bytes: number): Promise<void> {
    await fs.mkdir(partialFolder, { recursive: true });
    if ((await freeBytes(partialFolder)) < bytes + reserveBytes) throw new AppError('storage_full');
  }

  /** Announced by all, and not there yet. */
  async function outstandingBytes(): Promise<number> {
    const { bytes } = await sumAnnounced(db);
    return Math.max(0, bytes - (await bytesBelow(partialFolder)));
  }

  async function told(row: UploadRow): Promise<SlideUpload> {
    const isDone = row.state === 'done';
    const place = `${row.dataset}/${row.path}`;
    const at = { root: destination.root, place, isFolder: row.is_folder === 1 };
    const images = isDone ? await listImagesAt(db, at) : [];
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
      images: images.map(({ id, file_name, status, error }) => ({ id, file_name, status, error })),
    };
  }

  return {
    parts,

    async list(uid) {
      const rows = await listUploadsOf(db, uid);
      return Promise.all(rows.map(told));
    },

    async begin(sender, { dataset, path: asked, is_folder: isFolder, file_count, size_bytes }) {
      const names = namesOf(asked, 'path');
      if (!isFolder) requireSlideName(names.at(-1) ?? '');
      if (!isFolder && file_count !== 1) throw new AppError('invalid_request', { field: 'file_count' });
      const datasetName = datasetNameOf(dataset);
      if (size_bytes > config.uploadMaxBytes) throw new AppError('upload_too_large');
      const place = names.join('/');
      const placeKey = `${datasetName}/${place}`.toLowerCase();
      const at = now().toISOString();
      const isNew = (await findUploadAt(db, placeKey)) === null;
      if (isNew) {
        if (await destination.isTaken(`${datasetName}/${place}`)) throw new AppError('upload_exists');
        await requireRoom(size_bytes + (await outstandingBytes()));
      }
      const row = await change(db, 'uploads', async (tx) => {
        const before = await findUploadAt(tx, placeKey);
        if (before !== null) {
          const isSame = isSameUpload(before, { isFolder, fileCount: file_count, sizeBytes: size_bytes });
          if (before.uid !== sender.uid || !isSame) throw new AppError('upload_exists');
          const problem = before.problem === 'checksum' ? null : before.problem;
          await updateUpload(tx, before.id, { touched_at: at, problem });
          return { ...before, touched_at: at, problem };
        }
        const announced = await sumAnnounced(tx);
        if (announced.uploads >= maxOpenUploads) throw new AppError('too_many_uploads');
        const used = announced.bytes + (await sumUploadedSlides(tx));
        if (config.uploadQuotaBytes > 0 && used + size_bytes > config.uploadQuotaBytes) {
          throw new AppError('quota_exceeded');
        }
        const made: UploadRow = {
          id: randomUUID(),
          uid: sender.uid,
          dataset: datasetName,
          path: place,
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
        await insertUpload(tx, made);
        await audit.record(tx, entryOf('upload-begun', made, sender));
        return made;
      });
      const files = await listUploadFiles(db, row.id);
      return { upload: await told(row), files: files.map(fileOf) };
    },

    async abandon(sender, uploadId) {
      await finishing.giveUp(await ownUpload(sender.uid, uploadId), sender);
    },

    async beginFile(uid, { uploadId, path: asked, sizeBytes, modifiedMs }) {
      const upload = await ownUpload(uid, uploadId);
      if (upload.state !== 'open') throw new AppError('upload_ended');
      const place = namesOf(asked, 'path').join('/');
      if (upload.is_folder === 0 && place !== path.posix.basename(upload.path)) {
        throw new AppError('invalid_request', { field: 'path' });
      }
      const id = randomUUID();
      await parts.begin(id, sizeBytes);
      try {
        const replaced = await change(db, 'uploads', async (tx) => {
          const before = (await listUploadFiles(tx, uploadId)).find((file) => isSamePlace(file.path, place));
          if (before !== undefined && before.state !== 'open' && before.state !== 'refused') {
            throw new AppError('upload_ended');
          }
          if (before !== undefined) await deleteUploadFile(tx, before.id);
          const others = await countUploadFiles(tx, uploadId);
          const isLast = others.files + 1 === upload.file_count;
          const total = others.bytes + sizeBytes;
          const isTooMuch = others.files >= upload.file_count || total > upload.size_bytes;
          if (isTooMuch || (isLast && total !== upload.size_bytes)) {
            throw new AppError('invalid_request', { message: notAsAnnounced });
          }
          await insertUploadFile(tx, {
            id,
            upload_id: uploadId,
            path: place,
            size_bytes: sizeBytes,
            modified_ms: modifiedMs,
            sha256: null,
            state: 'open',
            leased_until: null,
          });
          return before?.id ?? null;
        });
        if (replaced !== null) await parts.discard(replaced);
      } catch (error) {
        await parts.discard(id);
        throw error;
      }
      return id;
    },

    async file(uid, fileId) {
      const { file } = await ownFile(uid, fileId);
      const received = file.state === 'open' ? await parts.received(fileId) : file.size_bytes;
      if (received === null) throw new AppError('not_found');
      return { ...fileOf(file), offset: received };
    },

    async expectPart(uid, fileId, partBytes) {
      const { file, upload } = await ownFile(uid, fileId);
      if (file.state !== 'open' || upload.state !== 'open') throw new AppError('upload_ended');
      await requireRoom(partBytes);
      const at = now();
      if (at.getTime() - Date.parse(upload.touched_at) > touchEveryMs) {
        await updateUpload(db, upload.id, { touched_at: at.toISOString() });
      }
    },

    async finishFile(uid, fileId, sha256) {
      const { file, upload } = await ownFile(uid, fileId);
      if (file.state !== 'open') return file.state;
      if ((await parts.received(fileId)) !== file.size_bytes) throw new AppError('upload_incomplete');
      await updateUploadFile(db, fileId, { state: 'checking', sha256 });
      await updateUpload(db, upload.id, { touched_at: now().toISOString() });
      finishing.workOn();
      return 'checking';
    },

    start: finishing.start,
    settled: finishing.settled,
    close: finishing.close,
  };
}

const notAsAnnounced: InBothLanguages = {
  tr: 'Dosya, yüklemenin başında bildirilenlerle uyuşmuyor.',
  en: 'The file does not fit what was announced when the upload began.',
};

function fileOf(row: UploadFileRow): UploadFile {
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

/** Of the files below a folder; what goes meanwhile counts nothing. */
async function bytesBelow(folder: string): Promise<number> {
  const entries = await fs.readdir(folder, { recursive: true, withFileTypes: true }).catch(() => []);
  let sum = 0;
  for (const entry of entries) {
    if (!entry.isFile()) continue;
    const found = await fs.stat(path.join(entry.parentPath, entry.name)).catch(() => null);
    sum += found?.size ?? 0;
  }
  return sum;
}
