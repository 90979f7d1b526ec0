/** Sends one file by the tus protocol; the parts grow as far as the network is fast. */
import { AppError, createUploadFile, ErrorBody, type ErrorCode, isErrorCode } from '@lamina/contract';
import { DetailedError, type HttpResponse, Upload } from 'tus-js-client';
import { addressOf, NoAnswerError, UnexpectedAnswerError } from '../../../api/client.ts';
import { storedToken } from '../../../api/stored-sign-in.ts';
import { acceptLanguage } from '../../../language.ts';

interface FileToSend {
  readonly file: File;
  readonly uploadId: string;
  /** Below the folder of the upload. */
  readonly path: string;
  /** Of what was begun before; null begins anew. */
  readonly fileId: string | null;
  readonly signal: AbortSignal;
  /** Bytes of the file that have come. */
  readonly onProgress: (sentBytes: number) => void;
}

const smallestPartBytes = 256 * 1024;
const firstPartBytes = 1024 * 1024;
const largestPartBytes = 64 * 1024 * 1024;
/** The server waits 30 s for a request to be whole; a part of so long leaves room for a network that slows down. */
const secondsOfPart = 4;
const retryDelaysMs = [0, 1000, 2000, 4000];

/**
 * @returns id of the file
 * @throws AppError, NoAnswerError, UnexpectedAnswerError as the API's client does; the reason of the signal
 */
export function sendFile({ file, uploadId, path, fileId, signal, onProgress }: FileToSend): Promise<string> {
  const files = addressOf(createUploadFile);
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let partBegunAt = performance.now();
  const upload: Upload = new Upload(file, {
    ...(fileId === null ? { endpoint: files } : { uploadUrl: `${files}/${fileId}` }),
    metadata: { upload: uploadId, path, modified: String(file.lastModified) },
    chunkSize: firstPartBytes,
    retryDelays: retryDelaysMs,
    // The server knows what is unfinished; another browser may go on, too.
    storeFingerprintForResuming: false,
    onBeforeRequest(request) {
      partBegunAt = performance.now();
      request.setHeader('Accept-Language', acceptLanguage());
      const token = storedToken();
      if (token !== null) request.setHeader('Authorization', `Bearer ${token}`);
    },
    // The library would begin anew whenever it cannot be told how far it has come.
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
    },
    onShouldRetry: ({ originalResponse }) => {
      const status = originalResponse?.getStatus() ?? 0;
      // It may have been too slow for a part of this size.
      upload.options.chunkSize = Math.max(smallestPartBytes, (upload.options.chunkSize ?? 0) / 2);
      if (bodyOf(originalResponse) !== null) return status >= 500 && status !== 507; // ours
      // Without a word of ours: the network's, a proxy's, or the library's own, as when a part that was thought to be
      // lost is still being written (409, 423).
      return status === 0 || status === 408 || status === 409 || status === 423 || status >= 500;
    },
    onChunkComplete(partBytes) {
      const seconds = (performance.now() - partBegunAt) / 1000;
      const fitting = Math.round((partBytes / Math.max(seconds, 0.001)) * secondsOfPart);
      upload.options.chunkSize = Math.min(
        largestPartBytes,
        Math.max(smallestPartBytes, Math.min(fitting, partBytes * 2)),
      );
    },
    onProgress,
    onError: (error) => reject(refusalOf(error)),
    onSuccess: () => resolve(upload.url?.split('/').at(-1) ?? ''),
  });
  signal.addEventListener('abort', () => {
    void upload.abort();
    reject(signal.reason as Error);
  });
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  upload.start();
  return promise;
}

function refusalOf(error: Error): Error {
  const answer = error instanceof DetailedError ? error.originalResponse : null;
  if (!answer?.getStatus()) return new NoAnswerError(error);
  const body = bodyOf(answer);
  if (body !== null) return new AppError(body.code, { message: body.message });
  if (answer.getStatus() === 401) return new AppError('token_invalid'); // a HEAD has no body
  if (answer.getStatus() === 404) return new AppError('not_found');
  return new UnexpectedAnswerError(answer.getStatus());
}

/** What the API says of a refusal; null where it says nothing. */
function bodyOf(answer: HttpResponse | null): { readonly code: ErrorCode; readonly message: string } | null {
  const body = ErrorBody.safeParse(parseJson(answer?.getBody() ?? ''));
  return body.success && isErrorCode(body.data.code)
    ? { code: body.data.code, message: body.data.message }
    : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
