/** The URLs of a slide's pixels, and requests for pixels with the image session (the credential for loading pixels). */
import { getColourTable, getDescriptor, getThumbnail, getTile } from '@lamina/contract';
import { acceptLanguage } from '../language/language.ts';
import { endpointUrl, signOutSignal } from './client.ts';
import { delay } from './delay.ts';
import { type ImageSessions, imageSessions } from './image-sessions.ts';

const retryDelayMs = 1000;

/** Returns the URL of a slide's thumbnail, image session included. @throws Error 'Image ID is required' */
export function thumbnailUrl(imageId: string, session: string): string {
  return endpointUrl(getThumbnail, { imageId }, { session });
}

/** Returns the URL of a slide's Deep Zoom descriptor, for `fetchPixels`. @throws Error 'Image ID is required' */
export function descriptorUrl(imageId: string): string {
  return endpointUrl(getDescriptor, { imageId });
}

/**
 * Returns the URL of one tile, for `fetchPixels`. Deep Zoom level 0 is the whole slide as one pixel.
 *
 * @param colour `srgb` for colours corrected by the slide's colour profile; undefined for colours as scanned
 * @throws Error 'Image ID is required'
 */
export function tileUrl(
  imageId: string,
  tile: { readonly level: number; readonly column: number; readonly row: number; readonly format: string },
  colour?: 'srgb',
): string {
  const url = endpointUrl(getTile, {
    imageId,
    dziLevel: String(tile.level),
    tile: `${tile.column}_${tile.row}.${tile.format}`,
  });
  return colour === undefined ? url : `${url}?colour=${colour}`;
}

/** Returns the URL of a slide's colour table, for `fetchPixels`. @throws Error 'Image ID is required' */
export function colourTableUrl(imageId: string): string {
  return endpointUrl(getColourTable, { imageId });
}

interface PixelRequest {
  readonly signal: AbortSignal;
  /** Called when the server rejects the session, before a new one is created. */
  readonly onRenewing: () => void;
  readonly priority?: RequestPriority;
}

/**
 * Loads pixels with the current image session. After a 401 it renews the session, once for all concurrent requests, and
 * retries once after 1 s.
 *
 * While the user signs out, this function sends no request, and running requests are aborted. The promise of such a
 * request then stays pending until the caller aborts the request, which closing the screen does. If the promise
 * rejected immediately, the viewer would show an error and retry.
 *
 * @returns the response of the server, which may also be an error or a second 401; 'session-lost' when no session could be created
 * @throws TypeError when there was no response; the abort reason
 */
export async function fetchPixels(
  url: string,
  request: PixelRequest,
  sessions: Pick<ImageSessions, 'get' | 'replaceRejected'> = imageSessions,
): Promise<Response | 'session-lost'> {
  const untilSignOut = signOutSignal();
  const signal = AbortSignal.any([request.signal, untilSignOut]);
  try {
    return await fetchWithSession(url, { ...request, signal }, sessions);
  } catch (error) {
    if (!untilSignOut.aborted) throw error;
    return rejectWhenAborted(request.signal);
  }
}

async function fetchWithSession(
  url: string,
  { signal, onRenewing, ...options }: PixelRequest,
  sessions: Pick<ImageSessions, 'get' | 'replaceRejected'>,
): Promise<Response | 'session-lost'> {
  const session = await sessions.get().catch(() => null);
  signal.throwIfAborted();
  if (session === null) return 'session-lost';
  const init = { signal, headers: { 'Accept-Language': acceptLanguage() }, ...options };
  const response = await fetch(withSession(url, session), init);
  if (response.status !== 401) return response;

  onRenewing();
  const renewed = await sessions.replaceRejected(session).catch(() => null);
  signal.throwIfAborted();
  if (renewed === null) return 'session-lost';
  await delay(retryDelayMs, signal);
  return fetch(withSession(url, renewed), init);
}

/** Returns a promise that rejects with the abort reason when the signal is aborted. */
function rejectWhenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const rejectWithReason = () => reject(signal.reason);
    if (signal.aborted) rejectWithReason();
    else signal.addEventListener('abort', rejectWithReason, { once: true });
  });
}

function withSession(url: string, session: string): string {
  return `${url}${url.includes('?') ? '&' : '?'}${new URLSearchParams({ session })}`;
}
