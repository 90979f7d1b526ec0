/**
 * The queue of slide uploads (each a single file or a folder) of this browser tab. It sends up to two uploads at a time, each file in
 * parts, and continues while other screens are open. Closing the tab ends the queue, but the server keeps the received parts: the user
 * resumes an upload by choosing the same files again.
 */
import { AppError } from '@lamina/contract';
import { useSyncExternalStore } from 'react';
import { authState } from '../../../api/auth-state.ts';
import { NoResponseError } from '../../../api/client.ts';
import { cancelUpload, createUpload, invalidateUploads, submitChecksum } from '../../../api/uploads.ts';
import { chosenLanguageOr } from '../../../language/language.ts';
import { reportUploadActivity } from '../../../notifications/upload-activity.ts';
import type { FileGroup } from './group-uploads.ts';
import { hashFile } from './hash-file.ts';
import { sendFile } from './send-file.ts';
import { createTransferRate, type TransferRate } from './transfer-rate.ts';
import type { UploadFailure } from './upload-failure.ts';

/**
 * The phase of an upload in the queue:
 *
 * - `waiting`: waits until fewer than two uploads are being sent and the account that chose the files is signed in
 * - `offline`: the server does not respond; the queue retries automatically
 * - `sent`: the server has received all files; from now on, the server reports the state of the upload
 * - `rejected`: the server rejected the upload, or the browser could not read a file; the user has to act
 */
export type LocalUploadPhase = 'waiting' | 'sending' | 'offline' | 'paused' | 'sent' | 'rejected';

/** An upload of this tab as the upload list shows it. */
export interface LocalUpload {
  /** Dataset and path, which identify the upload in this tab. */
  readonly key: string;
  readonly dataset: string;
  /** Path of the file or folder, relative to the dataset. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly phase: LocalUploadPhase;
  /** Number of files that the server has received completely. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** Path of the file that is being sent; null when no file is being sent. */
  readonly currentFile: string | null;
  /** Why the upload was rejected; null in every other phase. */
  readonly failure: UploadFailure | null;
  /** Whether a retry can succeed; false when the dataset already has a file or folder of this name. */
  readonly canResume: boolean;
  /** Null until the rate has been measured, and while nothing is being sent. */
  readonly bytesPerSecond: number | null;
  /** Id of the upload on the server; null until this tab has announced the upload to the server. */
  readonly uploadId: string | null;
}

/** Two, so that one upload can be sent while the other waits for a response, or for the browser to hash a file. */
const maxConcurrentUploads = 2;
/** Time after which the queue retries an upload to which the server has not responded. */
const retryDelayMs = 5000;

/** An upload in the queue with the state that only the queue needs. */
interface QueueEntry {
  upload: LocalUpload;
  readonly group: FileGroup;
  /** SHA-256 by path, cached so that a resumed upload does not hash its files again. */
  readonly checksums: Map<string, Promise<string>>;
  /** Aborts the current attempt to send the upload; null while it is not being sent. */
  attempt: AbortController | null;
  /** Speed of the current or last attempt. */
  rate: TransferRate;
}

/** Phases that continue without an action of the user. */
const activePhases: ReadonlySet<LocalUploadPhase> = new Set(['waiting', 'sending', 'offline']);

/** The queue: its uploads by key, in the order in which the user has chosen them. */
const entries = new Map<string, QueueEntry>();
/** Uid of the account that has chosen the files of all entries; null until `setUploadOwner` is called. */
let ownerUid: string | null = null;
/** The return value of `useLocalUploads`: a new array after each change, because React compares it by identity. */
let snapshot: readonly LocalUpload[] = [];
const listeners = new Set<() => void>();

/**
 * Informs the components about a change of the queue, and reports the progress of the active uploads for the navigation bar. While an
 * upload is active, the browser asks before it closes the page.
 */
function publishChanges(): void {
  snapshot = [...entries.values()].map(({ upload }) => upload);
  for (const listener of listeners) listener();

  const active = snapshot.filter(({ phase }) => activePhases.has(phase));
  reportUploadActivity({
    count: active.length,
    sentBytes: active.reduce((sum, { sentBytes }) => sum + sentBytes, 0),
    sizeBytes: active.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  });
  if (active.length > 0) window.addEventListener('beforeunload', askBeforeClosing);
  else window.removeEventListener('beforeunload', askBeforeClosing);
}

function updateUpload(entry: QueueEntry, changes: Partial<LocalUpload>): void {
  entry.upload = { ...entry.upload, ...changes };
  publishChanges();
}

/** Returns the uploads of this tab in the order in which the user has chosen them, and renders again when they change. */
export function useLocalUploads(): readonly LocalUpload[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => snapshot,
  );
}

/**
 * Adds an upload to the queue. The new upload replaces a sent or rejected upload that has the same dataset and path.
 *
 * @returns false, without a change, when the queue has an upload with this dataset and path that is neither sent nor rejected
 */
export function enqueue(group: FileGroup, dataset: string): boolean {
  const key = `${dataset}/${group.path}`;
  const previousPhase = entries.get(key)?.upload.phase;
  if (previousPhase !== undefined && previousPhase !== 'sent' && previousPhase !== 'rejected') {
    return false;
  }
  entries.delete(key);
  const { path, isFolder, sizeBytes, files } = group;
  entries.set(key, {
    group,
    checksums: new Map(),
    attempt: null,
    rate: createTransferRate(),
    upload: {
      key,
      dataset,
      path,
      isFolder,
      fileCount: files.length,
      sizeBytes,
      phase: 'waiting',
      sentFiles: 0,
      sentBytes: 0,
      currentFile: null,
      failure: null,
      canResume: true,
      bytesPerSecond: null,
      uploadId: null,
    },
  });
  publishChanges();
  startWaiting();
  return true;
}

/** Pauses an upload (aborts the current attempt to send it), and starts the next waiting one. */
export function pause(key: string): void {
  const entry = entries.get(key);
  if (entry === undefined) return;
  entry.attempt?.abort();
  entry.attempt = null; // set now, before the attempt has ended: `resume` ignores uploads with an attempt
  updateUpload(entry, { phase: 'paused', currentFile: null, bytesPerSecond: null });
  startWaiting();
}

/** Resumes a paused or offline upload; retries a rejected upload, or a sent upload whose checksum was wrong. */
export function resume(key: string): void {
  const entry = entries.get(key);
  if (entry === undefined || entry.attempt !== null) return;
  updateUpload(entry, { phase: 'waiting', failure: null });
  startWaiting();
}

/** Removes an upload from the queue, and makes the server remove the received files. @throws the errors of the API client */
export async function cancel(key: string): Promise<void> {
  const entry = entries.get(key);
  if (entry === undefined) return;
  entry.attempt?.abort();
  const { uploadId } = entry.upload;
  entries.delete(key);
  publishChanges();
  startWaiting();
  if (uploadId !== null) await cancelUpload(uploadId);
}

/** Removes a sent or rejected upload from the queue; the server continues to list a sent one. */
export function removeFinished(key: string): void {
  entries.delete(key);
  publishChanges();
}

/**
 * Starts waiting uploads, in their order, until `maxConcurrentUploads` are being sent. Starts none while their owner is not
 * signed in: they would become uploads of another account.
 */
function startWaiting(): void {
  if (authState().user?.uid !== ownerUid) return;
  const all = [...entries.values()];
  let freeSlots = maxConcurrentUploads - all.filter(({ attempt }) => attempt !== null).length;
  for (const entry of all) {
    if (freeSlots <= 0) return;
    if (entry.upload.phase !== 'waiting' || entry.attempt !== null) continue;
    freeSlots -= 1;
    void attemptUpload(entry);
  }
}

/** Sends an upload, and starts the next waiting one at its end. Never rejects. */
async function attemptUpload(entry: QueueEntry): Promise<void> {
  const attempt = new AbortController();
  entry.attempt = attempt;
  entry.rate = createTransferRate();
  updateUpload(entry, { phase: 'sending', failure: null });
  try {
    await sendMissingFiles(entry, attempt.signal);
    updateUpload(entry, { phase: 'sent', currentFile: null, bytesPerSecond: null });
    void invalidateUploads();
  } catch (error) {
    if (!attempt.signal.aborted) handleFailure(entry, error);
  } finally {
    if (entry.attempt === attempt) entry.attempt = null; // after `pause` and `resume`, a newer attempt may be running
    startWaiting();
  }
}

/**
 * When the server has not responded, retries after `retryDelayMs`, or as soon as the browser reports that the network is back. After any
 * other failure, the upload gets the phase `rejected`.
 */
function handleFailure(entry: QueueEntry, error: unknown): void {
  if (error instanceof NoResponseError) {
    updateUpload(entry, { phase: 'offline', currentFile: null, bytesPerSecond: null });
    const retry = () => {
      window.removeEventListener('online', retry);
      clearTimeout(timer);
      if (entry.upload.phase === 'offline') resume(entry.upload.key);
    };
    const timer = setTimeout(retry, retryDelayMs);
    window.addEventListener('online', retry);
    return;
  }
  // The sign-in is not valid any more. The API client signs the user out on this error, but `sendFile` does not use the API client.
  // So `invalidateUploads` makes the API client send a request, which fails with the same error.
  if (error instanceof AppError && error.code === 'token_invalid') void invalidateUploads();
  updateUpload(entry, {
    phase: 'rejected',
    currentFile: null,
    bytesPerSecond: null,
    failure: { error, language: chosenLanguageOr('tr') },
    canResume: !(error instanceof AppError && error.code === 'upload_exists'),
  });
}

/** Announces the upload to the server, and sends the files that the server does not have completely. */
async function sendMissingFiles(entry: QueueEntry, signal: AbortSignal): Promise<void> {
  const { group } = entry;
  const { upload, files } = await createUpload(
    {
      dataset: entry.upload.dataset,
      path: group.path,
      is_folder: group.isFolder,
      file_count: group.files.length,
      size_bytes: group.sizeBytes,
    },
    signal,
  );
  updateUpload(entry, { uploadId: upload.id, sentBytes: 0, sentFiles: 0 });

  const serverFiles = new Map(files.map((serverFile) => [serverFile.path, serverFile]));
  let completeBytes = 0;
  let completeFiles = 0;
  for (const { path, file } of group.files) {
    // Skips files that an earlier attempt has sent completely, resumes incomplete files that are unchanged, and sends the others in full.
    const serverFile = serverFiles.get(path);
    const isComplete = serverFile?.state === 'checking' || serverFile?.state === 'checked';
    if (!isComplete) {
      updateUpload(entry, { currentFile: path });
      const checksum = checksumOf(entry, path, file); // computed while the file is being sent
      const transfer = {
        file,
        uploadId: upload.id,
        path,
        signal,
        onProgress: (sentBytesOfFile: number) => {
          const sentBytes = completeBytes + sentBytesOfFile;
          entry.rate.add(sentBytes, performance.now());
          updateUpload(entry, { sentBytes, bytesPerSecond: entry.rate.bytesPerSecond() });
        },
      };
      const isUnchanged =
        serverFile?.size_bytes === file.size && serverFile.modified_ms === file.lastModified;
      const resumedFileId = serverFile?.state === 'open' && isUnchanged ? serverFile.id : null;
      const fileId = await sendOrRestart(transfer, resumedFileId);
      await submitChecksum(fileId, await checksum, signal);
    }
    completeBytes += file.size;
    completeFiles += 1;
    updateUpload(entry, { sentBytes: completeBytes, sentFiles: completeFiles });
  }
}

/** Resumes a partly sent file. Sends it from the beginning when `fileId` is null or unknown to the server. */
async function sendOrRestart(
  transfer: Omit<Parameters<typeof sendFile>[0], 'fileId'>,
  fileId: string | null,
): Promise<string> {
  if (fileId === null) return sendFile({ ...transfer, fileId });
  try {
    return await sendFile({ ...transfer, fileId });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    return sendFile({ ...transfer, fileId: null });
  }
}

/** Returns the SHA-256 of a file, and computes it only once. */
function checksumOf(entry: QueueEntry, path: string, file: File): Promise<string> {
  const cached = entry.checksums.get(path);
  if (cached !== undefined) return cached;
  const checksum = hashFile(file);
  entry.checksums.set(path, checksum);
  checksum.catch(() => entry.checksums.delete(path)); // the next call then reads the file again; the caller gets the error, too
  return checksum;
}

/**
 * Must be called with the uid of the signed-in account. If another account was signed in before, aborts and removes the uploads of that
 * account. Otherwise starts the uploads that have waited for the sign-in of their owner.
 */
export function setUploadOwner(uid: string): void {
  if (ownerUid === uid) {
    startWaiting();
    return;
  }
  if (ownerUid !== null) {
    for (const { attempt } of entries.values()) attempt?.abort();
    entries.clear();
    publishChanges();
  }
  ownerUid = uid;
}

function askBeforeClosing(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
