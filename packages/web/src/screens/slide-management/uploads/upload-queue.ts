/**
 * The uploads of this browser. They continue while other screens are open and end with the page; what the server has
 * received by then is resumed when the same files are chosen again.
 */
import { AppError } from '@lamina/contract';
import { useSyncExternalStore } from 'react';
import { messageOf, NoResponseError } from '../../../api/client.ts';
import { cancelUpload, createUpload, invalidateUploads, submitChecksum } from '../../../api/uploads.ts';
import { reportUploadActivity } from '../../../notifications/upload-activity.ts';
import type { FileGroup } from './group-uploads.ts';
import { FileUnreadableError, hashFile } from './hash-file.ts';
import { sendFile } from './send-file.ts';
import { texts } from './texts.ts';
import { createTransferRate, type TransferRate } from './transfer-rate.ts';

/**
 * - `waiting`: other uploads come first
 * - `offline`: no response from the server; retried automatically
 * - `sent`: the server has all files and reports their state
 * - `refused`: the server or the browser rejected it; the user has to act
 */
export type SendingPhase = 'waiting' | 'sending' | 'offline' | 'paused' | 'sent' | 'refused';

export interface Sending {
  readonly key: string;
  readonly dataset: string;
  /** Path below the dataset. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly phase: SendingPhase;
  /** Number of files that the server has. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** Path of the file that is being sent; null when none is. */
  readonly currentFile: string | null;
  /** Reason of a refusal; null otherwise. */
  readonly message: string | null;
  /** Whether a retry can succeed; false when the name is taken. */
  readonly canResume: boolean;
  /** Null until it is measured, and while nothing is sent. */
  readonly bytesPerSecond: number | null;
  /** Null until the upload is announced to the server. */
  readonly uploadId: string | null;
}

/** Number of concurrent uploads: the next one is sent while the server checks the one before. */
const atOnce = 2;
const tryAgainMs = 5000;

interface Entry {
  sending: Sending;
  readonly group: FileGroup;
  /** Checksums by path: each file is read once, even when its upload is interrupted. */
  readonly checksums: Map<string, Promise<string>>;
  running: AbortController | null;
  rate: TransferRate;
}

/** Phases that continue without an action of the user. */
const activePhases: ReadonlySet<SendingPhase> = new Set(['waiting', 'sending', 'offline']);

const entries = new Map<string, Entry>();
/** Uid of the owner of the files; null before the first sign-in. */
let owner: string | null = null;
let shown: readonly Sending[] = [];
const listeners = new Set<() => void>();

function tell(): void {
  shown = [...entries.values()].map(({ sending }) => sending);
  for (const listener of listeners) listener();
  const active = shown.filter(({ phase }) => activePhases.has(phase));
  reportUploadActivity({
    count: active.length,
    sentBytes: active.reduce((sum, { sentBytes }) => sum + sentBytes, 0),
    sizeBytes: active.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
  });
}

function set(entry: Entry, changes: Partial<Sending>): void {
  entry.sending = { ...entry.sending, ...changes };
  tell();
}

/** Returns the uploads in the order in which they were chosen. */
export function useSendings(): readonly Sending[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** @returns false when the same path is being sent already */
export function enqueue(group: FileGroup, dataset: string): boolean {
  const key = `${dataset}/${group.path}`;
  const before = entries.get(key);
  if (before !== undefined && before.sending.phase !== 'sent' && before.sending.phase !== 'refused') {
    return false;
  }
  entries.delete(key);
  const { path, isFolder, sizeBytes, files } = group;
  entries.set(key, {
    group,
    checksums: new Map(),
    running: null,
    rate: createTransferRate(),
    sending: {
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
      message: null,
      canResume: true,
      bytesPerSecond: null,
      uploadId: null,
    },
  });
  tell();
  startNext();
  return true;
}

export function pause(key: string): void {
  const entry = entries.get(key);
  if (entry === undefined) return;
  entry.running?.abort();
  entry.running = null; // so that it can be resumed at once
  set(entry, { phase: 'paused', currentFile: null, bytesPerSecond: null });
  startNext();
}

/** Resumes a paused or offline upload; retries a refused one. */
export function resume(key: string): void {
  const entry = entries.get(key);
  if (entry === undefined || entry.running !== null) return;
  set(entry, { phase: 'waiting', message: null });
  startNext();
}

/** Aborts the upload, and lets the server remove the received files. @throws the errors of the API client */
export async function cancel(key: string): Promise<void> {
  const entry = entries.get(key);
  if (entry === undefined) return;
  entry.running?.abort();
  const { uploadId } = entry.sending;
  entries.delete(key);
  tell();
  startNext();
  if (uploadId !== null) await cancelUpload(uploadId);
}

/** Removes a finished upload from this list; it stays in the server's list. */
export function forget(key: string): void {
  entries.delete(key);
  tell();
}

function startNext(): void {
  const all = [...entries.values()];
  let free = atOnce - all.filter(({ running }) => running !== null).length;
  for (const entry of all) {
    if (free <= 0) return;
    if (entry.sending.phase !== 'waiting' || entry.running !== null) continue;
    free -= 1;
    void run(entry);
  }
}

async function run(entry: Entry): Promise<void> {
  const running = new AbortController();
  entry.running = running;
  guardPage();
  entry.rate = createTransferRate();
  set(entry, { phase: 'sending', message: null });
  try {
    await send(entry, running.signal);
    set(entry, { phase: 'sent', currentFile: null, bytesPerSecond: null });
    void invalidateUploads();
  } catch (error) {
    if (!running.signal.aborted) stop(entry, error);
  } finally {
    if (entry.running === running) entry.running = null;
    guardPage();
    startNext();
  }
}

function stop(entry: Entry, error: unknown): void {
  if (error instanceof NoResponseError) {
    set(entry, { phase: 'offline', currentFile: null, bytesPerSecond: null });
    const goOn = () => {
      window.removeEventListener('online', goOn);
      clearTimeout(timer);
      if (entry.sending.phase === 'offline') resume(entry.sending.key);
    };
    const timer = setTimeout(goOn, tryAgainMs);
    window.addEventListener('online', goOn);
    return;
  }
  // The API client handles the end of a sign-in.
  if (error instanceof AppError && error.code === 'token_invalid') void invalidateUploads();
  const otherwise = error instanceof FileUnreadableError ? texts.unreadable : texts.failed;
  set(entry, {
    phase: 'refused',
    currentFile: null,
    bytesPerSecond: null,
    message: messageOf(error, otherwise),
    canResume: !(error instanceof AppError && error.code === 'upload_exists'),
  });
}

async function send(entry: Entry, signal: AbortSignal): Promise<void> {
  const { group, sending } = entry;
  const { upload, files } = await createUpload(
    {
      dataset: sending.dataset,
      path: group.path,
      is_folder: group.isFolder,
      file_count: group.files.length,
      size_bytes: group.sizeBytes,
    },
    signal,
  );
  set(entry, { uploadId: upload.id, sentBytes: 0, sentFiles: 0 });
  const begun = new Map(files.map((file) => [file.path, file]));
  let before = 0;
  let sentFiles = 0;
  for (const { path, file } of group.files) {
    const known = begun.get(path);
    const isThere = known?.state === 'checking' || known?.state === 'checked';
    if (!isThere) {
      set(entry, { currentFile: path });
      const checksum = checksumOf(entry, path, file);
      const isSame = known?.size_bytes === file.size && known.modified_ms === file.lastModified;
      const sent = {
        file,
        uploadId: upload.id,
        path,
        signal,
        onProgress: (sentBytes: number) => {
          entry.rate.add(before + sentBytes, performance.now());
          set(entry, { sentBytes: before + sentBytes, bytesPerSecond: entry.rate.bytesPerSecond() });
        },
      };
      const fileId = await sendOrBeginAnew(sent, known?.state === 'open' && isSame ? known.id : null);
      await submitChecksum(fileId, await checksum, signal);
    }
    before += file.size;
    sentFiles += 1;
    set(entry, { sentBytes: before, sentFiles });
  }
}

/** Sends a file; starts it again when the server no longer has the begun one. */
async function sendOrBeginAnew(
  file: Omit<Parameters<typeof sendFile>[0], 'fileId'>,
  fileId: string | null,
): Promise<string> {
  if (fileId === null) return sendFile({ ...file, fileId });
  try {
    return await sendFile({ ...file, fileId });
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
    return sendFile({ ...file, fileId: null });
  }
}

function checksumOf(entry: Entry, path: string, file: File): Promise<string> {
  const known = entry.checksums.get(path);
  if (known !== undefined) return known;
  const checksum = hashFile(file);
  entry.checksums.set(path, checksum);
  checksum.catch(() => entry.checksums.delete(path)); // callers get the error; the next call reads the file again
  return checksum;
}

/** Removes the uploads of the account that was signed in before in this browser. */
export function keepFor(uid: string): void {
  if (owner === uid) return;
  if (owner !== null) {
    for (const { running } of entries.values()) running?.abort();
    entries.clear();
    tell();
  }
  owner = uid;
}

/** Makes the browser ask before it closes the page while files are sent. */
function guardPage(): void {
  const isSending = [...entries.values()].some(({ running }) => running !== null);
  if (isSending) window.addEventListener('beforeunload', askFirst);
  else window.removeEventListener('beforeunload', askFirst);
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
