/**
 * File uploads with tus, a protocol for resumable uploads (https://tus.io). The browser sends a file in parts (chunks
 * in the library). Their size follows the speed of the network: each part takes about 4 s.
 */
import { AppError, ErrorBody, type ErrorCode, isErrorCode } from '@lamina/contract';
import { DetailedError, type HttpResponse, Upload } from 'tus-js-client';
import { acceptLanguage } from '../language/language.ts';
import { NoResponseError, ResponseError, UnexpectedResponseError } from './client.ts';
import { storedToken } from './stored-sign-in.ts';

interface FileToSend {
  readonly file: File;
  /** URL that creates a new upload (`endpoint`), or URL of an upload to resume (`uploadUrl`). */
  readonly destination: { readonly endpoint: string } | { readonly uploadUrl: string };
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  /** Called with the number of bytes that have been sent. */
  readonly onProgress: (sentBytes: number) => void;
}

const minPartBytes = 256 * 1024;
const firstPartBytes = 1024 * 1024;
const maxPartBytes = 64 * 1024 * 1024;
/** Intended duration of a part. The server ends a request after 30 s; 4 s leaves a margin for a slower network. */
const targetPartSeconds = 4;
const retryDelaysMs = [0, 1000, 2000, 4000];

/**
 * Uploads a file and returns the URL of the upload.
 *
 * @throws AppError, NoResponseError or UnexpectedResponseError like `call` in `client.ts`; the abort reason of the signal
 */
export function sendByTus({ file, destination, metadata, signal, onProgress }: FileToSend): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  let partStartedAt = performance.now();
  const upload: Upload = new Upload(file, {
    ...destination,
    ...(metadata !== undefined && { metadata: { ...metadata } }),
    chunkSize: firstPartBytes,
    retryDelays: retryDelaysMs,
    // The library need not store the URLs of incomplete uploads in this browser: the server lists them.
    storeFingerprintForResuming: false,
    onBeforeRequest(request) {
      partStartedAt = performance.now();
      request.setHeader('Accept-Language', acceptLanguage());
      const token = storedToken();
      if (token !== null) request.setHeader('Authorization', `Bearer ${token}`);
    },
    // Without an endpoint, the library cannot create a second upload when the state of the first one cannot be loaded.
    onUploadUrlAvailable: () => {
      upload.options.endpoint = null;
    },
    onShouldRetry: ({ originalResponse }) => {
      const status = originalResponse?.getStatus() ?? 0; // 0: no response
      // Halves the size of the next part, because the network may be too slow for parts of the current size.
      upload.options.chunkSize = Math.max(minPartBytes, (upload.options.chunkSize ?? 0) / 2);
      // Errors of the API are retried only for 5xx, except for 507 (the server has no disk space).
      const isApiError = errorBodyOf(originalResponse) !== null;
      if (isApiError) return status >= 500 && status !== 507;
      // Retries failures of the network (0) or a proxy, and while the server is still writing the previous part (409, 423).
      return status === 0 || status === 408 || status === 409 || status === 423 || status >= 500;
    },
    onChunkComplete(partBytes) {
      const seconds = (performance.now() - partStartedAt) / 1000;
      const bytesPerSecond = partBytes / Math.max(seconds, 0.001); // avoids a division by 0
      const targetBytes = Math.round(bytesPerSecond * targetPartSeconds);
      const growthLimit = partBytes * 2; // parts grow gradually
      const nextBytes = Math.max(minPartBytes, Math.min(targetBytes, growthLimit));
      upload.options.chunkSize = Math.min(maxPartBytes, nextBytes);
    },
    onProgress,
    onError: (error) => reject(apiErrorOf(error)),
    onSuccess: () => resolve(upload.url ?? ''), // the URL is always known after a success
  });
  signal.addEventListener('abort', () => {
    void upload.abort();
    reject(signal.reason as Error);
  });
  // A signal that was already aborted does not fire the event.
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  upload.start();
  return promise;
}

/** Converts an error of the tus library to the error that `call` would throw. */
function apiErrorOf(error: Error): Error {
  const response = error instanceof DetailedError ? error.originalResponse : null;
  const status = response?.getStatus();
  if (!response || !status) return new NoResponseError(error);
  const body = errorBodyOf(response);
  if (body !== null) return new ResponseError(body.code, body.message);
  // The response to a HEAD request has no body, so the code follows from the status.
  if (status === 401) return new AppError('token_invalid');
  if (status === 404) return new AppError('not_found');
  return new UnexpectedResponseError(status);
}

/** Returns code and message of an error response of the API; null for other responses, such as the page of a proxy. */
function errorBodyOf(
  response: HttpResponse | null,
): { readonly code: ErrorCode; readonly message: string } | null {
  const { data } = ErrorBody.safeParse(parseJson(response?.getBody() ?? ''));
  return data !== undefined && isErrorCode(data.code) ? { code: data.code, message: data.message } : null;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
