/** Sends one file of a slide upload in parts, with the tus protocol. */
import { createUploadFile } from '@lamina/contract';
import { addressOf } from '../../../api/client.ts';
import { sendByTus } from '../../../api/tus-upload.ts';

interface FileToSend {
  readonly file: File;
  readonly uploadId: string;
  /** Path below the folder of the upload. */
  readonly path: string;
  /** Id of the partly sent file to resume; null creates a new file. */
  readonly fileId: string | null;
  readonly signal: AbortSignal;
  /** Receives the number of bytes of this file that the server has received. */
  readonly onProgress: (sentBytes: number) => void;
}

/**
 * Sends a file.
 *
 * @returns the id that the server gave the file, which is the end of its URL
 * @throws the errors of `sendByTus`
 */
export async function sendFile({ uploadId, path, fileId, ...transfer }: FileToSend): Promise<string> {
  const filesUrl = addressOf(createUploadFile);
  const fileUrl = await sendByTus({
    ...transfer,
    address: fileId === null ? { endpoint: filesUrl } : { uploadUrl: `${filesUrl}/${fileId}` },
    metadata: { upload: uploadId, path, modified: String(transfer.file.lastModified) },
  });
  return fileUrl.split('/').at(-1) ?? '';
}
