/** How the viewer gets its bytes, and the ways that can fail. */

export interface PixelRequest {
  readonly signal: AbortSignal;
  /** The session was refused; a new one is being made. */
  readonly onRenewing: () => void;
  /** For the browser, among everything it has to load; its own choice when left out. */
  readonly priority?: RequestPriority;
}

/**
 * Loads what an address names with the image session of the moment. A refused session is renewed, and
 * the request repeated once, inside.
 *
 * @returns the answer, whatever its status; 'session-lost' when no session could be made
 * @throws when there was no answer; the abort's reason
 */
export type FetchPixels = (address: string, request: PixelRequest) => Promise<Response | 'session-lost'>;

export type PixelFailure =
  /** The server's sentence, empty when it sent none. */
  | { readonly kind: 'status'; readonly status: number; readonly message: string }
  | { readonly kind: 'unreadable' }
  | { readonly kind: 'session-lost' }
  /** No answer came, or something else went wrong. */
  | { readonly kind: 'other' };

export class PixelError extends Error {
  readonly failure: PixelFailure;

  constructor(failure: PixelFailure, cause?: unknown) {
    super(`pixels could not be loaded: ${failure.kind}`, { cause });
    this.name = 'PixelError';
    this.failure = failure;
  }
}

/** Answers of a server that is busy, restarting or short of something, or of a session that has ended. */
const passingStatuses: readonly number[] = [401, 408, 429, 500, 503, 504];

/** Whether asking again later may help: not for what is missing or damaged. */
export function mayPass(failure: PixelFailure): boolean {
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

/** The sentence of the API's error body; empty when the answer has none (a proxy's page, say). */
async function messageIn(answer: Response): Promise<string> {
  const text = await answer.text();
  try {
    const body: unknown = JSON.parse(text);
    const hasMessage = typeof body === 'object' && body !== null && 'message' in body;
    return hasMessage && typeof body.message === 'string' ? body.message : '';
  } catch {
    return ''; // not JSON: a page of somebody between us and the server
  }
}
