/** Sends files to the server by the tus protocol, in parts whose size follows the speed of the network. */
import { AppError, ErrorBody, type ErrorCode, isErrorCode } from '@lamina/contract';
import { DetailedError, type HttpResponse, Upload } from 'tus-js-client';
import { acceptLanguage } from '../language/language.ts';
import { NoResponseError, ResponseError, UnexpectedResponseError } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

interface FileToSend {
  readonly file: File;
  /** `endpoint` creates the upload; `uploadUrl` resumes one. */
  readonly address: { readonly endpoint: string } | { readonly uploadUrl: string };
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with the bytes of the file that the server has received. */
  readonly onProgress: (sentBytes: number) => void;
}

const smallestPartBytes = 256 * 1024;
const firstPartBytes = 1024 * 1024;
const largestPartBytes = 64 * 1024 * 1024;
/** The server ends a request after 30 s; parts of 4 s leave room for a network that slows down. */
const secondsOfPart = 4;
const retryDelaysMs = [0, 1000, 2000, 4000];

/**
 * @returns the address of the upload
 * @throws AppError, NoResponseError, UnexpectedResponseError as the API's client does; the reason of the signal
 */
export function sendByTus({ file, address, metadata, signal, onProgress }: FileToSend): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let partBegunAt = performance.now();
  const upload: Upload = new Upload(file, {
    ...address,
    ...(metadata !== undefined && { metadata: { ...metadata } }),
    chunkSize: firstPartBytes,
    retryDelays: retryDelaysMs,
    // The server lists unfinished uploads; another browser may resume them, too.
    storeFingerprintForResuming: false,
    onBeforeRequest(request) {
      partBegunAt = performance.now();
      request.setHeader('Accept-Language', acceptLanguage());
      const token = storedToken();
      if (token !== null) request.setHeader('Authorization', `Bearer ${token}`);
    },
    // Otherwise the library creates a new upload when a HEAD request fails.
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
    },
    onShouldRetry: ({ originalResponse }) => {
      const status = originalResponse?.getStatus() ?? 0;
      // The network may be too slow for a part of this size.
      upload.options.chunkSize = Math.max(smallestPartBytes, (upload.options.chunkSize ?? 0) / 2);
      if (bodyOf(originalResponse) !== null) return status >= 500 && status !== 507; // from the API
      // A failure of the network or a proxy, or a part that the server is still writing (409, 423).
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
    onError: (error) => reject(apiErrorOf(error)),
    onSuccess: () => resolve(upload.url ?? ''),
  });
  signal.addEventListener('abort', () => {
    void upload.abort();
    reject(signal.reason as Error);
  });
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  upload.start();
  return promise;
}

function apiErrorOf(error: Error): Error {
  const answer = error instanceof DetailedError ? error.originalResponse : null;
  if (!answer?.getStatus()) return new NoResponseError(error);
  const body = bodyOf(answer);
  if (body !== null) return new ResponseError(body.code, body.message);
  if (answer.getStatus() === 401) return new AppError('token_invalid'); // a HEAD has no body
  if (answer.getStatus() === 404) return new AppError('not_found');
  return new UnexpectedResponseError(answer.getStatus());
}

/** Returns the error of the API; null when the response has none. */
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
