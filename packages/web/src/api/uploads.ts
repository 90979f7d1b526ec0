/** Uploads from this browser, as the server reports them. */
import {
  abandonUpload,
  type BodyInputOf,
  beginUpload,
  finishUploadFile,
  listUploads,
  type ResponseOf,
  type SlideUpload,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { call } from './client.ts';
import { queryClient } from './query-client.ts';

const uploadsKey = ['uploads'];
/** Polling interval while the server checks or ingests an upload. */
const activePollMs = 1500;
const idlePollMs = 30_000;
/** After this time without a catalogue entry, an uploaded folder counts as one without slides. */
const lookingForMs = 5 * 60_000;

/**
 * Returns the own uploads, latest first, and the size limit.
 *
 * @param sent ids of uploads whose data has been sent completely
 */
export function useUploads(sent: ReadonlySet<string>) {
  const isAwaited = (upload: SlideUpload) => isUnderWay(upload, sent.has(upload.id));
  return useQuery({
    queryKey: uploadsKey,
    queryFn: ({ signal }) => call(listUploads, { signal }),
    refetchInterval: ({ state }) => (state.data?.uploads.some(isAwaited) ? activePollMs : idlePollMs),
    refetchOnWindowFocus: 'always',
  });
}

/** Whether the server is still working on the upload. */
function isUnderWay(upload: SlideUpload, isSent: boolean): boolean {
  const { state, problem, images, checked_count, begun_at } = upload;
  if (state === 'placing') return true;
  if (state === 'open') return problem === null && (isSent || checked_count > 0);
  if (images.length === 0) return Date.now() - Date.parse(begun_at) < lookingForMs;
  return images.some(({ status }) => status === 'pending');
}

export function invalidateUploads(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: uploadsKey });
}

/** @throws like `call` */
export function createUpload(
  body: BodyInputOf<typeof beginUpload>,
  signal: AbortSignal,
): Promise<ResponseOf<typeof beginUpload>> {
  return call(beginUpload, { body, signal });
}

/** @throws like `call` */
export async function submitChecksum(fileId: string, sha256: string, signal: AbortSignal): Promise<void> {
  await call(finishUploadFile, { params: { fileId }, body: { sha256 }, signal });
  await invalidateUploads();
}

/** @throws like `call` */
export async function cancelUpload(uploadId: string): Promise<void> {
  try {
    await call(abandonUpload, { params: { uploadId } });
  } finally {
    await invalidateUploads();
  }
}
