/** Joins the uploads of this browser tab with those that the server reports into the lines of the upload list. */
import type { SlideUpload } from '@lamina/contract';
import { problemSentence, texts } from './texts.ts';
import type { LocalUpload } from './upload-queue.ts';

type LineAction = 'pause' | 'resume' | 'sendAgain' | 'cancel' | 'hide';

export interface UploadLine {
  readonly key: string;
  readonly dataset: string;
  readonly path: string;
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Null once all bytes have been sent, and for an upload that another tab or an earlier visit has begun. */
  readonly sentBytes: number | null;
  /** Null unless this tab is sending the upload. */
  readonly bytesPerSecond: number | null;
  /** Number of files that the server has received completely. */
  readonly sentFiles: number;
  /** Path of the file that is being sent; null when none is. */
  readonly currentFile: string | null;
  /** State as a short text for the user, such as "Waiting" or "Ready". */
  readonly state: string;
  readonly tone: 'calm' | 'good' | 'bad';
  /** A reason or hint; null when there is none. */
  readonly detail: string | null;
  readonly actions: readonly LineAction[];
  /** Id that the server gave the upload; null until the upload has been announced to the server. */
  readonly uploadId: string | null;
}

/** Time after the beginning of an upload from which a line without slides says that the folder contains none. */
const noSlideFoundAfterMs = 60_000;

/**
 * Returns the uploads of this tab in the order in which the user chose them, then the other uploads of the server in
 * the order of `serverUploads`.
 *
 * @param nowMs time since the epoch
 */
export function uploadLinesOf(
  localUploads: readonly LocalUpload[],
  serverUploads: readonly SlideUpload[],
  nowMs: number,
): readonly UploadLine[] {
  const serverUploadById = new Map(serverUploads.map((upload) => [upload.id, upload]));
  const localIds = new Set(localUploads.map(({ uploadId }) => uploadId));
  const localTargets = new Set(localUploads.map(targetOf));
  // A local upload that is about to resume an open upload of the server has no id yet; both have the same dataset and path.
  const isAlsoLocal = (upload: SlideUpload) =>
    localIds.has(upload.id) || (upload.state === 'open' && localTargets.has(targetOf(upload)));
  return [
    ...localUploads.map((upload) =>
      lineOfLocalUpload(upload, serverUploadById.get(upload.uploadId ?? ''), nowMs),
    ),
    ...serverUploads
      .filter((upload) => !isAlsoLocal(upload))
      .map((upload) => lineOfServerUpload(upload, nowMs)),
  ];
}

/** Identifies the file or folder that an upload creates. */
const targetOf = ({ dataset, path }: Pick<UploadLine, 'dataset' | 'path'>) => `${dataset}/${path}`;

/** @param onServer the same upload as the server reports it; undefined while the server does not */
function lineOfLocalUpload(local: LocalUpload, onServer: SlideUpload | undefined, nowMs: number): UploadLine {
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
  if (phase === 'sent' && onServer !== undefined) {
    return {
      ...common,
      ...serverStateOf(onServer, nowMs),
      sentBytes: null,
      actions: actionsAfterSending(onServer),
    };
  }
  const actions: Record<LocalUpload['phase'], readonly LineAction[]> = {
    waiting: ['pause', 'cancel'],
    sending: ['pause', 'cancel'],
    offline: ['resume', 'cancel'],
    paused: ['resume', 'cancel'],
    refused: local.canResume ? ['resume', 'cancel'] : ['cancel'],
    sent: [],
  };
  return {
    ...common,
    sentBytes: phase === 'sent' ? null : local.sentBytes,
    state: phase === 'sent' ? texts.checking : texts[phase],
    tone: phase === 'refused' || phase === 'offline' ? 'bad' : 'calm',
    detail: local.message,
    actions: actions[phase],
  };
}

function actionsAfterSending({ state, problem }: SlideUpload): readonly LineAction[] {
  if (problem === 'checksum') return ['sendAgain', 'cancel'];
  const actions: LineAction[] = state === 'done' ? ['hide'] : [];
  return problem === 'exists' ? [...actions, 'cancel'] : actions; // 'exists': the name is taken, so a retry cannot succeed
}

function lineOfServerUpload(upload: SlideUpload, nowMs: number): UploadLine {
  const isComplete = upload.checked_count === upload.file_count;
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
    actions: upload.state === 'open' ? ['cancel'] : [],
  };
}

/** Returns the state of an upload whose files the server has received completely. */
function serverStateOf(
  { state, problem, images, begun_at }: SlideUpload,
  nowMs: number,
): Pick<UploadLine, 'state' | 'tone' | 'detail'> {
  if (problem !== null) return { state: texts.refused, tone: 'bad', detail: problemSentence(problem) };
  if (state === 'open') return { state: texts.checking, tone: 'calm', detail: null };
  if (state === 'placing') return { state: texts.placing, tone: 'calm', detail: null };
  if (images.length === 0) {
    return nowMs - Date.parse(begun_at) < noSlideFoundAfterMs
      ? { state: texts.reading, tone: 'calm', detail: null }
      : { state: texts.noSlideFound, tone: 'bad', detail: null };
  }
  const failedImage = images.find(({ status }) => status === 'failed');
  if (failedImage !== undefined) return { state: texts.unread, tone: 'bad', detail: failedImage.error };
  if (images.some(({ status }) => status === 'pending'))
    return { state: texts.reading, tone: 'calm', detail: null };
  const ready = images.length === 1 ? texts.ready : texts.readyOf(images.length);
  return { state: ready, tone: 'good', detail: null };
}
