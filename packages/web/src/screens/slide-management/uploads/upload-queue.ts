/**
 * What this browser is sending. It goes on while other screens are looked at, and ends with the page: what the server has
 * by then is gone on with when the same files are chosen again.
 */
import { AppError } from '@lamina/contract';
import { useSyncExternalStore } from 'react';
import { messageOf, NoAnswerError } from '../../../api/client.ts';
import { announce, giveUp, renewUploads, tellChecksum } from '../../../api/uploads.ts';
import type { FileGroup } from './group-files.ts';
import { FileUnreadableError, hashFile } from './hash-file.ts';
import { sendFile } from './send-file.ts';
import { texts } from './texts.ts';

/**
 * - `waiting`: others go before it
 * - `offline`: the server did not answer; tried again by itself
 * - `sent`: the server has all of it, and says what becomes of it
 * - `refused`: somebody has to do something first
 */
export type SendingPhase = 'waiting' | 'sending' | 'offline' | 'paused' | 'sent' | 'refused';

export interface Sending {
  readonly key: string;
  readonly dataset: string;
  /** Below the dataset. */
  readonly path: string;
  readonly isFolder: boolean;
  readonly fileCount: number;
  readonly sizeBytes: number;
  readonly phase: SendingPhase;
  /** Files that the server has. */
  readonly sentFiles: number;
  readonly sentBytes: number;
  /** Path of the file that is on its way; null when none is. */
  readonly currentFile: string | null;
  /** Why it is refused; null otherwise. */
  readonly message: string | null;
  /** Null until it was announced. */
  readonly uploadId: string | null;
}

/** So many uploads are sent at the same time: the next one is under way while the server checks the last. */
const atOnce = 2;
const tryAgainMs = 5000;

interface Entry {
  sending: Sending;
  readonly group: FileGroup;
  /** By path: each file is read once, however often its sending is interrupted. */
  readonly checksums: Map<string, Promise<string>>;
  running: AbortController | null;
}

const entries = new Map<string, Entry>();
/** Uid of whose files these are; null before anybody's. */
let owner: string | null = null;
let shown: readonly Sending[] = [];
const listeners = new Set<() => void>();

function tell(): void {
  shown = [...entries.values()].map(({ sending }) => sending);
  for (const listener of listeners) listener();
}

function set(entry: Entry, changes: Partial<Sending>): void {
  entry.sending = { ...entry.sending, ...changes };
  tell();
}

/** In the order they were chosen. */
export function useSendings(): readonly Sending[] {
  return useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => shown,
  );
}

/** @returns false when the same is being sent already */
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
  entry.running = null; // it may be gone on with at once
  set(entry, { phase: 'paused', currentFile: null });
  startNext();
}

/** Also again, after it was refused. */
export function resume(key: string): void {
  const entry = entries.get(key);
  if (entry === undefined || entry.running !== null) return;
  set(entry, { phase: 'waiting', message: null });
  startNext();
}

/** Stops it, and has the server remove what has come. @throws as the API's client does */
export async function cancel(key: string): Promise<void> {
  const entry = entries.get(key);
  if (entry === undefined) return;
  entry.running?.abort();
  const { uploadId } = entry.sending;
  entries.delete(key);
  tell();
  startNext();
  if (uploadId !== null) await giveUp(uploadId);
}

/** Of what is over; the server's own list goes on telling of it. */
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
  set(entry, { phase: 'sending', message: null });
  try {
    await send(entry, running.signal);
    set(entry, { phase: 'sent', currentFile: null });
    void renewUploads();
  } catch (error) {
    if (!running.signal.aborted) stop(entry, error);
  } finally {
    if (entry.running === running) entry.running = null;
    guardPage();
    startNext();
  }
}

function stop(entry: Entry, error: unknown): void {
  if (error instanceof NoAnswerError) {
    set(entry, { phase: 'offline', currentFile: null });
    const goOn = () => {
      window.removeEventListener('online', goOn);
      clearTimeout(timer);
      if (entry.sending.phase === 'offline') resume(entry.sending.key);
    };
    const timer = setTimeout(goOn, tryAgainMs);
    window.addEventListener('online', goOn);
    return;
  }
  // The API's client knows what the end of a sign-in means.
  if (error instanceof AppError && error.code === 'token_invalid') void renewUploads();
  const otherwise = error instanceof FileUnreadableError ? texts.unreadable : texts.failed;
  set(entry, { phase: 'refused', currentFile: null, message: messageOf(error, otherwise) });
}

async function send(entry: Entry, signal: AbortSignal): Promise<void> {
  const { group, sending } = entry;
  const { upload, files } = await announce(
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
        onProgress: (sentBytes: number) => set(entry, { sentBytes: before + sentBytes }),
      };
      const fileId = await sendOrBeginAnew(sent, known?.state === 'open' && isSame ? known.id : null);
      await tellChecksum(fileId, await checksum, signal);
    }
    before += file.size;
    sentFiles += 1;
    set(entry, { sentBytes: before, sentFiles });
  }
}

/** What the server has lost meanwhile is begun anew. */
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
  checksum.catch(() => entry.checksums.delete(path)); // whoever waits for it is told; then it is read again
  return checksum;
}

/** Somebody else at this browser neither sees nor goes on with what the one before was sending. */
export function keepFor(uid: string): void {
  if (owner === uid) return;
  if (owner !== null) {
    for (const { running } of entries.values()) running?.abort();
    entries.clear();
    tell();
  }
  owner = uid;
}

/** While something is sent, the browser asks before it closes the page. */
function guardPage(): void {
  const isSending = [...entries.values()].some(({ running }) => running !== null);
  if (isSending) window.addEventListener('beforeunload', askFirst);
  else window.removeEventListener('beforeunload', askFirst);
}

function askFirst(event: BeforeUnloadEvent): void {
  event.preventDefault();
}
