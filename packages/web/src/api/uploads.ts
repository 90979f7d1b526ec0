/** Slides that are sent from this browser: what the server knows of them. */
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
/** While something is being checked or read. */
const askSoonMs = 1500;
const askAgainMs = 30_000;
/** A folder in which the catalogue has found nothing for so long has no slide in it. */
const lookingForMs = 5 * 60_000;

/**
 * Own uploads, the latest first, and how large one may be.
 *
 * @param sent ids of those of which everything has been sent
 */
export function useUploads(sent: ReadonlySet<string>) {
  const isAwaited = (upload: SlideUpload) => isUnderWay(upload, sent.has(upload.id));
  return useQuery({
    queryKey: uploadsKey,
    queryFn: ({ signal }) => call(listUploads, { signal }),
    refetchInterval: ({ state }) => (state.data?.uploads.some(isAwaited) ? askSoonMs : askAgainMs),
    refetchOnWindowFocus: 'always',
  });
}

/** Whether the server is about to do something with it. */
function isUnderWay(upload: SlideUpload, isSent: boolean): boolean {
  const { state, problem, images, checked_count, begun_at } = upload;
  if (state === 'placing') return true;
  if (state === 'open') return problem === null && (isSent || checked_count > 0);
  if (images.length === 0) return Date.now() - Date.parse(begun_at) < lookingForMs;
  return images.some(({ status }) => status === 'pending');
}

export function renewUploads(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: uploadsKey });
}

/** @throws as `call` does */
export function announce(
  body: BodyInputOf<typeof beginUpload>,
  signal: AbortSignal,
): Promise<ResponseOf<typeof beginUpload>> {
  return call(beginUpload, { body, signal });
}

/** @throws as `call` does */
export async function tellChecksum(fileId: string, sha256: string, signal: AbortSignal): Promise<void> {
  await call(finishUploadFile, { params: { fileId }, body: { sha256 }, signal });
  await renewUploads();
}

/** @throws as `call` does */
export async function giveUp(uploadId: string): Promise<void> {
  try {
    await call(abandonUpload, { params: { uploadId } });
  } finally {
    await renewUploads();
  }
}
