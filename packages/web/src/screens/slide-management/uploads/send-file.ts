/** Sends one file of a slide upload. */
import { createUploadFile } from '@lamina/contract';
import { addressOf } from '../../../api/client.ts';
import { sendByTus } from '../../../api/tus-upload.ts';

interface FileToSend {
  readonly file: File;
  readonly uploadId: string;
  /** Below the folder of the upload. */
  readonly path: string;
  /** Id of a file that is resumed; null creates one. */
  readonly fileId: string | null;
  readonly signal: AbortSignal;
  /** Called with the bytes of the file that the server has received. */
  readonly onProgress: (sentBytes: number) => void;
}

/**
 * @returns id of the file
 * @throws like `sendByTus`
 */
export async function sendFile({ uploadId, path, fileId, ...transfer }: FileToSend): Promise<string> {
  const files = addressOf(createUploadFile);
  const url = await sendByTus({
    ...transfer,
    address: fileId === null ? { endpoint: files } : { uploadUrl: `${files}/${fileId}` },
    metadata: { upload: uploadId, path, modified: String(transfer.file.lastModified) },
  });
  return url.split('/').at(-1) ?? '';
}
