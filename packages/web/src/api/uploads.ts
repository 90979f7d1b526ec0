/** API calls for the slide uploads of the signed-in account. */
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
/** Polling interval while the server checks or ingests (adds to the catalogue) at least one upload. */
const activePollMs = 1500;
/** Polling interval while the server processes no upload. */
const idlePollMs = 30_000;
/** When a stored upload has no catalogue entry this long after its last progress, the app no longer waits for one and polls less often. */
const maxIngestWaitMs = 5 * 60_000;

/**
 * Loads the account's uploads, newest first, and the maximum size of one upload.
 *
 * @param sentUploadIds ids of uploads whose data this page has sent completely
 */
export function useUploads(sentUploadIds: ReadonlySet<string>) {
  const isActive = (upload: SlideUpload) => isBeingProcessed(upload, sentUploadIds.has(upload.id));
  return useQuery({
    queryKey: uploadsKey,
    queryFn: ({ signal }) => call(listUploads, { signal }),
    refetchInterval: ({ state }) => (state.data?.uploads.some(isActive) ? activePollMs : idlePollMs),
    refetchOnWindowFocus: 'always',
  });
}

/** Returns whether the server is still checking or ingesting the upload. */
function isBeingProcessed(upload: SlideUpload, isSent: boolean): boolean {
  const { state, problem, images, checked_count, last_progress_at } = upload;
  if (state === 'placing') return true; // the server moves the files to the slide storage
  // The state 'open': files are being sent, and the server checks each file that has been sent completely.
  if (state === 'open') return problem === null && (isSent || checked_count > 0);
  // The state is 'done': the files are stored, and the scan creates the catalogue entries.
  if (images.length === 0) return Date.now() - Date.parse(last_progress_at) < maxIngestWaitMs;
  return images.some(({ status }) => status === 'pending');
}

export function invalidateUploads(): Promise<void> {
  return queryClient.invalidateQueries({ queryKey: uploadsKey });
}

/** Creates an upload of a slide or of a folder of files. @throws like `call` */
export function createUpload(
  body: BodyInputOf<typeof beginUpload>,
  signal: AbortSignal,
): Promise<ResponseOf<typeof beginUpload>> {
  return call(beginUpload, { body, signal });
}

/** Reports that a file has been sent, with the checksum against which the server checks it. @throws like `call` */
export async function submitChecksum(fileId: string, sha256: string, signal: AbortSignal): Promise<void> {
  await call(finishUploadFile, { params: { fileId }, body: { sha256 }, signal });
  await invalidateUploads();
}

/** Cancels an upload; the server deletes its data. @throws like `call` */
export async function cancelUpload(uploadId: string): Promise<void> {
  try {
    await call(abandonUpload, { params: { uploadId } });
  } finally {
    await invalidateUploads();
  }
}
