/** The rows of the upload list, computed from the uploads of this browser tab and those that the server reports. */
import type { SlideUpload } from '@lamina/contract';
import { problemSentence, texts } from './texts.ts';
import { failureSentence } from './upload-failure.ts';
import type { LocalUpload } from './upload-queue.ts';

/** A button of a row. `sendAgain` repeats a file whose checksum was wrong; `hide` removes a finished upload from the list. */
type RowAction = 'pause' | 'resume' | 'sendAgain' | 'cancel' | 'hide';

/** Why the server cannot read a slide. */
interface SlideReadError {
  /** In English. */
  readonly error: string;
  readonly code: string | undefined;
}

export interface UploadListRow {
  /** Key of an upload of this tab (dataset and path); for any other upload, its id on the server. */
  readonly key: string;
  readonly dataset: string;
  readonly path: string;
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Null once all bytes have been sent, and for an upload that another tab or an earlier visit has begun. */
  readonly sentBytes: number | null;
  /** Null unless this tab is sending the upload and has measured the rate. */
  readonly bytesPerSecond: number | null;
  /** Number of files that the server has received; for an upload that this tab has not sent, only the verified ones. */
  readonly sentFiles: number;
  /** Path of the file that is being sent; null when no file is being sent. */
  readonly currentFile: string | null;
  /** State of the upload as a short text for the user, for example "Ready". */
  readonly state: string;
  /** Determines the colour of the state. */
  readonly tone: 'calm' | 'good' | 'bad';
  /** A sentence for the user, or the error of the server about a slide that cannot be read; null when there is none. */
  readonly detail: string | SlideReadError | null;
  readonly actions: readonly RowAction[];
  /** Id of the upload on the server; null until this tab has announced the upload to the server. */
  readonly uploadId: string | null;
}

/** When the server has found no slide this long after an upload was completed, the row says that the upload contains no slide. */
const noSlideFoundAfterMs = 60_000;

/**
 * Returns the rows of the upload list: the uploads of this tab in the order in which the user has chosen them, then the other uploads of
 * the server in the order of `serverUploads`.
 *
 * @param nowMs the current time, in ms since the epoch
 */
export function uploadListRowsOf(
  localUploads: readonly LocalUpload[],
  serverUploads: readonly SlideUpload[],
  nowMs: number,
): readonly UploadListRow[] {
  const serverUploadById = new Map(serverUploads.map((upload) => [upload.id, upload]));
  const localIds = new Set(localUploads.map(({ uploadId }) => uploadId));
  const localTargets = new Set(localUploads.map(targetOf));
  // A local upload that is about to resume an open upload of the server has no id yet, but has the same dataset and path.
  const isAlsoLocal = (upload: SlideUpload) =>
    localIds.has(upload.id) || (upload.state === 'open' && localTargets.has(targetOf(upload)));
  return [
    ...localUploads.map((upload) =>
      rowOfLocalUpload(upload, serverUploadById.get(upload.uploadId ?? ''), nowMs),
    ),
    ...serverUploads
      .filter((upload) => !isAlsoLocal(upload))
      .map((upload) => rowOfServerUpload(upload, nowMs)),
  ];
}

/** Identifies the file or folder that an upload creates. */
const targetOf = ({ dataset, path }: Pick<UploadListRow, 'dataset' | 'path'>) => `${dataset}/${path}`;

/** Returns the row of an upload of this tab. @param serverUpload the same upload as the server reports it; undefined if it does not */
function rowOfLocalUpload(
  local: LocalUpload,
  serverUpload: SlideUpload | undefined,
  nowMs: number,
): UploadListRow {
  const { phase } = local;
  const common = {
    key: local.key,
    dataset: local.dataset,
    path: local.path,
    fileCount: local.fileCount,
    sizeBytes: local.sizeBytes,
    sentFiles: local.sentFiles,
    bytesPerSecond: local.bytesPerSecond,
    currentFile: local.currentFile,
    uploadId: local.uploadId,
  };
  if (phase === 'sent' && serverUpload !== undefined) {
    return {
      ...common,
      ...serverStateOf(serverUpload, nowMs),
      sentBytes: null,
      actions: actionsAfterSending(serverUpload),
    };
  }
  const actionsByPhase: Record<LocalUpload['phase'], readonly RowAction[]> = {
    waiting: ['pause', 'cancel'],
    sending: ['pause', 'cancel'],
    offline: ['resume', 'cancel'],
    paused: ['resume', 'cancel'],
    rejected: local.canResume ? ['resume', 'cancel'] : ['cancel'],
    sent: [],
  };
  return {
    ...common,
    sentBytes: phase === 'sent' ? null : local.sentBytes,
    state: phase === 'sent' ? texts.checking : texts[phase],
    tone: phase === 'rejected' || phase === 'offline' ? 'bad' : 'calm',
    detail: local.failure && failureSentence(local.failure),
    actions: actionsByPhase[phase],
  };
}

/** Returns the actions for an upload of this tab after all files have been sent. */
function actionsAfterSending({ state, problem }: SlideUpload): readonly RowAction[] {
  if (problem === 'checksum') return ['sendAgain', 'cancel'];
  const actions: RowAction[] = state === 'done' ? ['hide'] : [];
  // `exists`: the dataset already has a file or folder of this name. `storage`: the server retries by itself. The user can only cancel.
  return problem === 'exists' || problem === 'storage' ? [...actions, 'cancel'] : actions;
}

/** Returns the row of an upload that another tab or an earlier visit has begun. */
function rowOfServerUpload(upload: SlideUpload, nowMs: number): UploadListRow {
  const isComplete = upload.checked_count === upload.file_count;
  /** Whether the upload continues only when the user chooses its files again. */
  const isInterrupted = upload.state === 'open' && (upload.problem === 'checksum' || !isComplete);
  return {
    key: upload.id,
    dataset: upload.dataset,
    path: upload.path,
    fileCount: upload.file_count,
    sizeBytes: upload.size_bytes,
    sentBytes: null,
    bytesPerSecond: null,
    sentFiles: upload.checked_count,
    currentFile: null,
    uploadId: upload.id,
    ...(isInterrupted
      ? { state: texts.interrupted, tone: 'bad' as const, detail: texts.interruptedHint }
      : serverStateOf(upload, nowMs)),
    actions: upload.state === 'open' || upload.problem === 'storage' ? ['cancel'] : [],
  };
}

/** Returns the state of an upload whose files the server has received completely. */
function serverStateOf(
  { state, problem, images, last_progress_at }: SlideUpload,
  nowMs: number,
): Pick<UploadListRow, 'state' | 'tone' | 'detail'> {
  if (problem !== null) return { state: texts.rejected, tone: 'bad', detail: problemSentence(problem) };
  if (state === 'open') return { state: texts.checking, tone: 'calm', detail: null };
  if (state === 'placing') return { state: texts.placing, tone: 'calm', detail: null };
  if (images.length === 0) {
    return nowMs - Date.parse(last_progress_at) < noSlideFoundAfterMs
      ? { state: texts.reading, tone: 'calm', detail: null }
      : { state: texts.noSlideFound, tone: 'bad', detail: null };
  }
  const failedImage = images.find(({ status }) => status === 'failed');
  if (failedImage !== undefined) {
    const { error, error_code: code } = failedImage;
    return { state: texts.unread, tone: 'bad', detail: error === null ? null : { error, code } };
  }
  if (images.some(({ status }) => status === 'pending'))
    return { state: texts.reading, tone: 'calm', detail: null };
  const readyText = images.length === 1 ? texts.ready : texts.readyOf(images.length);
  return { state: readyText, tone: 'good', detail: null };
}
