/** Lines of the list of uploads: those of this browser, and those that the server knows. */
import type { SlideUpload } from '@lamina/contract';
import { problemSentence, texts } from './texts.ts';
import type { Sending } from './upload-queue.ts';

type LineAction = 'pause' | 'resume' | 'sendAgain' | 'cancel' | 'hide';

export interface UploadLine {
  readonly key: string;
  readonly dataset: string;
  readonly path: string;
  readonly fileCount: number;
  readonly sizeBytes: number;
  /** Null once it has been sent. */
  readonly sentBytes: number | null;
  /** Null unless it is being sent. */
  readonly bytesPerSecond: number | null;
  readonly sentFiles: number;
  readonly currentFile: string | null;
  readonly state: string;
  readonly tone: 'calm' | 'good' | 'bad';
  /** A reason or hint; null when there is none. */
  readonly detail: string | null;
  readonly actions: readonly LineAction[];
  readonly uploadId: string | null;
}

/** How long a folder is looked through before nothing in it counts as nothing. */
const lookingForMs = 60_000;

/** Those that this browser sends come first, in the order they were chosen; the server's others the latest first. */
export function linesOf(
  sendings: readonly Sending[],
  uploads: readonly SlideUpload[],
  now: number,
): readonly UploadLine[] {
  const byId = new Map(uploads.map((upload) => [upload.id, upload]));
  const own = new Set(sendings.map(({ uploadId }) => uploadId));
  const places = new Set(sendings.map(placeOf));
  return [
    ...sendings.map((sending) => lineOfSending(sending, byId.get(sending.uploadId ?? ''), now)),
    ...uploads
      // One that is about to be resumed has not been announced again yet.
      .filter((each) => !own.has(each.id) && !(each.state === 'open' && places.has(placeOf(each))))
      .map((upload) => lineOfUpload(upload, now)),
  ];
}

const placeOf = ({ dataset, path }: Pick<UploadLine, 'dataset' | 'path'>) => `${dataset}/${path}`;

function lineOfSending(sending: Sending, upload: SlideUpload | undefined, now: number): UploadLine {
  const { phase } = sending;
  const progress = phase === 'sent' && upload !== undefined ? serverSays(upload, now) : null;
  const common = {
    key: sending.key,
    dataset: sending.dataset,
    path: sending.path,
    fileCount: sending.fileCount,
    sizeBytes: sending.sizeBytes,
    sentFiles: sending.sentFiles,
    bytesPerSecond: sending.bytesPerSecond,
    currentFile: sending.currentFile,
    uploadId: sending.uploadId,
  };
  if (progress !== null) {
    const isAgain = upload?.problem === 'checksum';
    const isOver = upload?.state === 'done';
    const actions: LineAction[] = isAgain ? ['sendAgain', 'cancel'] : isOver ? ['hide'] : [];
    if (upload?.problem === 'exists') actions.push('cancel');
    return { ...common, ...progress, sentBytes: null, actions };
  }
  const actions: Record<Sending['phase'], readonly LineAction[]> = {
    waiting: ['pause', 'cancel'],
    sending: ['pause', 'cancel'],
    offline: ['resume', 'cancel'],
    paused: ['resume', 'cancel'],
    refused: sending.canResume ? ['resume', 'cancel'] : ['cancel'],
    sent: [],
  };
  return {
    ...common,
    sentBytes: phase === 'sent' ? null : sending.sentBytes,
    state: phase === 'sent' ? texts.checking : texts[phase],
    tone: phase === 'refused' || phase === 'offline' ? 'bad' : 'calm',
    detail: sending.message,
    actions: actions[phase],
  };
}

function lineOfUpload(upload: SlideUpload, now: number): UploadLine {
  const isWhole = upload.checked_count === upload.file_count;
  const isInterrupted = upload.state === 'open' && (upload.problem === 'checksum' || !isWhole);
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
      : serverSays(upload, now)),
    actions: upload.state === 'open' ? ['cancel'] : [],
  };
}

/** What the server says of what it has. */
function serverSays(
  { state, problem, images, begun_at }: SlideUpload,
  now: number,
): Pick<UploadLine, 'state' | 'tone' | 'detail'> {
  if (problem !== null) return { state: texts.refused, tone: 'bad', detail: problemSentence(problem) };
  if (state === 'open') return { state: texts.checking, tone: 'calm', detail: null };
  if (state === 'placing') return { state: texts.placing, tone: 'calm', detail: null };
  if (images.length === 0) {
    return now - Date.parse(begun_at) < lookingForMs
      ? { state: texts.reading, tone: 'calm', detail: null }
      : { state: texts.noSlideFound, tone: 'bad', detail: null };
  }
  const failed = images.find(({ status }) => status === 'failed');
  if (failed !== undefined) return { state: texts.unread, tone: 'bad', detail: failed.error };
  if (images.some(({ status }) => status === 'pending'))
    return { state: texts.reading, tone: 'calm', detail: null };
  const ready = images.length === 1 ? texts.ready : texts.readyOf(images.length);
  return { state: ready, tone: 'good', detail: null };
}
