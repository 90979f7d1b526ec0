/** Loads tiles, Deep Zoom descriptors and colour tables for the viewer, and says why they could not be loaded. */

/** Options of a request for pixels. */
export interface PixelRequest {
  readonly signal: AbortSignal;
  /** Called when the server has rejected the image session and a new one is being created. */
  readonly onRenewing: () => void;
  /** Fetch priority; default: the browser's choice. */
  readonly priority?: RequestPriority;
}

/**
 * Requests a URL with the current image session (the credential for loading pixels). If the server rejects the session, the function
 * creates a new one and repeats the request once.
 *
 * @returns the response, whatever its status; 'session-lost' when no session could be created
 * @throws the network error, or the reason of the abort
 */
export type FetchPixels = (url: string, request: PixelRequest) => Promise<Response | 'session-lost'>;

/** Why pixels could not be loaded. */
export type PixelFailure =
  /** The server responded with an error; the message is empty when the response has none. */
  | { readonly kind: 'status'; readonly status: number; readonly message: string }
  /** The response is not what was requested, such as a descriptor that cannot be parsed. */
  | { readonly kind: 'unreadable' }
  /** The server has rejected the image session, and no new session could be created. */
  | { readonly kind: 'session-lost' }
  /** Network error or another unexpected error. */
  | { readonly kind: 'other' };

export class PixelError extends Error {
  readonly failure: PixelFailure;

  constructor(failure: PixelFailure, cause?: unknown) {
    super(`pixels could not be loaded: ${failure.kind}`, { cause });
    this.name = 'PixelError';
    this.failure = failure;
  }
}

/** HTTP statuses after which a retry may succeed: a busy or restarting server, or an expired image session (401). */
const temporaryStatuses: readonly number[] = [401, 408, 429, 500, 503, 504];

/** Returns whether a later retry may succeed; false, for example, for missing and damaged tiles. */
export function canRetry(failure: PixelFailure): boolean {
  if (failure.kind !== 'status') return failure.kind !== 'unreadable';
  // The server reports a damaged slide as 502 with a message. A proxy that does not reach the server also responds with 502, but
  // without a message of the API.
  if (failure.status === 502) return failure.message === '';
  return temporaryStatuses.includes(failure.status);
}

/** Returns the body of a successful response. @throws PixelError, or the reason of the abort */
export async function loadPixels(
  fetchPixels: FetchPixels,
  url: string,
  request: PixelRequest,
): Promise<Blob> {
  try {
    const response = await fetchPixels(url, request);
    if (response === 'session-lost') throw new PixelError({ kind: 'session-lost' });
    if (!response.ok) {
      throw new PixelError({ kind: 'status', status: response.status, message: await messageIn(response) });
    }
    return await response.blob();
  } catch (error) {
    if (error instanceof PixelError || request.signal.aborted) throw error;
    throw new PixelError({ kind: 'other' }, error);
  }
}

/** Returns the message of an error response of the API; empty for other responses, such as the error page of a proxy. */
async function messageIn(response: Response): Promise<string> {
  const text = await response.text();
  try {
    const body: unknown = JSON.parse(text);
    const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
    return hasMessage && typeof body.message === 'string' ? body.message : '';
  } catch {
    return ''; // not JSON
  }
}
