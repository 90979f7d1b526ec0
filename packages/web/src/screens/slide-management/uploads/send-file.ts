/** The transfer of one file of a slide upload in parts, with the tus protocol for resumable uploads. */
import { createUploadFile } from '@lamina/contract';
import { endpointUrl } from '../../../api/client.ts';
import { sendByTus } from '../../../api/tus-upload.ts';

interface FileToSend {
  readonly file: File;
  /** Id of the upload to which the file belongs. */
  readonly uploadId: string;
  /** Path relative to the folder of the upload. */
  readonly path: string;
  /** Id of the partly sent file to resume; null creates a new file. */
  readonly fileId: string | null;
  readonly signal: AbortSignal;
  /** Called with the number of bytes of this file that have been sent. */
  readonly onProgress: (sentBytes: number) => void;
}

/**
 * Sends a file, or the part of the file that the server does not have yet.
 *
 * @returns the id that the server has given the file, which is the last part of the file's URL
 * @throws the errors of `sendByTus`
 */
export async function sendFile({ uploadId, path, fileId, ...transfer }: FileToSend): Promise<string> {
  const filesUrl = endpointUrl(createUploadFile);
  const fileUrl = await sendByTus({
    ...transfer,
    destination: fileId === null ? { endpoint: filesUrl } : { uploadUrl: `${filesUrl}/${fileId}` },
    metadata: { upload: uploadId, path, modified: String(transfer.file.lastModified) },
  });
  return fileUrl.split('/').at(-1) ?? '';
}
