/** Loads bytes for the viewer, and classifies failures. */

export interface PixelRequest {
  readonly signal: AbortSignal;
  /** Called when the server has rejected the session and a new one is being created. */
  readonly onRenewing: () => void;
  /** Fetch priority; default: the browser's choice. */
  readonly priority?: RequestPriority;
}

/**
 * Loads the address with the current image session. If the server rejects the session, it is renewed and
 * the request repeated once.
 *
 * @returns the response, whatever its status; 'session-lost' when no session could be created
 * @throws on a network error; the abort's reason
 */
export type FetchPixels = (address: string, request: PixelRequest) => Promise<Response | 'session-lost'>;

export type PixelFailure =
  /** Message of the server; empty without one. */
  | { readonly kind: 'status'; readonly status: number; readonly message: string }
  | { readonly kind: 'unreadable' }
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

/** Statuses of a busy or restarting server, and of an ended session. */
const passingStatuses: readonly number[] = [401, 408, 429, 500, 503, 504];

/** Whether a later retry may succeed: not for missing or damaged tiles. */
export function canRetry(failure: PixelFailure): boolean {
  if (failure.kind === 'status') return passingStatuses.includes(failure.status);
  return failure.kind !== 'unreadable';
}

/** @throws PixelError; the abort's reason */
export async function loadPixels(
  fetchPixels: FetchPixels,
  address: string,
  request: PixelRequest,
): Promise<Blob> {
  try {
    const answer = await fetchPixels(address, request);
    if (answer === 'session-lost') throw new PixelError({ kind: 'session-lost' });
    if (!answer.ok) {
      throw new PixelError({ kind: 'status', status: answer.status, message: await messageIn(answer) });
    }
    return await answer.blob();
  } catch (error) {
    if (error instanceof PixelError || request.signal.aborted) throw error;
    throw new PixelError({ kind: 'other' }, error);
  }
}

/** Returns the message of the API's error body; empty when there is none, as on a proxy's page. */
async function messageIn(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const body: unknown = JSON.parse(text);
    const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
    return hasMessage && typeof body.message === 'string' ? body.message : '';
  } catch {
    return ''; // not JSON, such as a page of a proxy
  }
}
