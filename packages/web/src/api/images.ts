/** The catalogue of slides, and the addresses of their pixels. */
import {
  AppError,
  endpoint,
  getDescriptor,
  getThumbnail,
  getTile,
  ImageStatus,
  listImages,
} from '@lamina/contract';
import { useQuery } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useState } from 'react';
import { z } from 'zod';
import { acceptLanguage } from '../language.ts';
import { addressOf, callIfChanged, NoAnswerError, UnexpectedAnswerError } from './client.ts';
import { delay } from './delay.ts';
import { type ImageSessions, imageSessions } from './image-sessions.ts';
import { queryClient } from './query-client.ts';
import { imageTexts as texts } from './texts.ts';

const retryDelayMs = 1000;

const textOrNull = z
  .string()
  .nullish()
  .transform((text) => text || null);
const yesOrNo = z
  .boolean()
  .nullish()
  .transform((yes) => yes === true);
const numberOrNull = z
  .number()
  .nullish()
  .transform((number) => number ?? null);

/** Of a catalogue entry, what the viewer shows. Only the id has to be there. */
const CatalogueImage = z.object({
  id: z.string().min(1),
  file_name: textOrNull,
  dataset_name: textOrNull,
  organ_type: textOrNull,
  /** Pixels at full resolution. */
  width: numberOrNull,
  height: numberOrNull,
  /** µm per pixel at full resolution. */
  mpp_x: numberOrNull,
  mpp_y: numberOrNull,
  /** Magnification of the scan, e.g. 20 or 40. */
  objective_power: numberOrNull,
  /** The file does not say it: estimated from the other. */
  mpp_derived: yesOrNo,
  objective_power_derived: yesOrNo,
  size_bytes: numberOrNull,
  /** ISO 8601, UTC. */
  created_at: textOrNull,
  /** Machine name, e.g. `aperio`. */
  format: textOrNull,
  /** Administrators see what is not `ready` too. */
  status: ImageStatus.default('ready'),
  /** Why a `failed` image could not be read. */
  error: textOrNull,
  /** Seen by administrators alone. */
  hidden: yesOrNo,
});
export type CatalogueImage = z.infer<typeof CatalogueImage>;

/** A list may come under `images`, bare, or as a message saying that there is none. */
const listCatalogue = endpoint({
  ...listImages,
  response: z.union([
    z.object({ images: z.array(CatalogueImage) }).transform(({ images }) => images),
    z.array(CatalogueImage),
    z.object({ message: z.string() }).transform((): CatalogueImage[] => []),
  ]),
});

export interface Catalogue {
  readonly images: readonly CatalogueImage[];
  readonly isLoading: boolean;
  /** Sentence for the person; null when there is a list, though it may not be the latest. */
  readonly error: string | null;
  reload(): void;
}

type Renewal = 'done' | 'failed';

const none: readonly CatalogueImage[] = [];

const listKey = ['images'];
const askAgainMs = 30_000;

/** A list, and how the server knows it again; null when it cannot. */
interface KnownList {
  readonly images: readonly CatalogueImage[];
  readonly etag: string | null;
}

/**
 * The whole catalogue, asked for again every 30 s while somebody looks at it. A list refused with 401 is asked
 * for once more with a new image session, which the error says while it lasts and when it fails.
 */
export function useCatalogue(): Catalogue {
  const list = useQuery({
    queryKey: listKey,
    queryFn: ({ signal }) => loadCatalogue(signal),
    structuralSharing: false, // keepUnchanged knows better what is the same
    refetchInterval: askAgainMs,
    refetchOnWindowFocus: 'always',
  });
  /** How the attempt at a new session ended; null before and while it lasts. */
  const [renewal, setRenewal] = useState<Renewal | null>(null);
  const { error, refetch } = list;
  const isRefused = error !== null && statusOf(error) === 401;
  if (error === null && list.data !== undefined && renewal !== null) setRenewal(null);

  useEffect(() => {
    if (!isRefused || renewal !== null) return;
    imageSessions.refresh().then(
      () => {
        setRenewal('done');
        void refetch();
      },
      () => setRenewal('failed'),
    );
  }, [isRefused, renewal, refetch]);

  const reload = useCallback(() => {
    setRenewal(null);
    void refetch();
  }, [refetch]);

  const images = list.data?.images ?? none;
  // A list that could not be renewed is better than none.
  const failure = error === null || list.data !== undefined ? null : sentenceOf(error, renewal);
  const isLoading = list.isPending;
  return useMemo(() => ({ images, isLoading, error: failure, reload }), [images, isLoading, failure, reload]);
}

async function loadCatalogue(signal: AbortSignal): Promise<KnownList> {
  const session = await imageSessions.get().catch((error: unknown) => {
    if (error instanceof NoAnswerError) throw error;
    return undefined; // the list needs the sign-in alone; the missing session is shown in the top bar
  });
  const known = queryClient.getQueryData<KnownList>(listKey);
  const query = session === undefined ? {} : { session };
  const changed = await callIfChanged(listCatalogue, { query, signal }, known?.etag ?? null);
  if (changed === null) return known ?? { images: none, etag: null };
  return { images: keepUnchanged(known?.images ?? none, changed.answer), etag: changed.etag };
}

/** The same images are the same objects as before, so that nothing is drawn again for them. */
export function keepUnchanged(
  before: readonly CatalogueImage[],
  now: readonly CatalogueImage[],
): readonly CatalogueImage[] {
  const known = new Map(before.map((image) => [image.id, image]));
  return now.map((image) => {
    const same = known.get(image.id);
    return same !== undefined && isSame(same, image) ? same : image;
  });
}

function isSame(a: CatalogueImage, b: CatalogueImage): boolean {
  return (Object.keys(b) as (keyof CatalogueImage)[]).every((field) => a[field] === b[field]);
}

function sentenceOf(error: Error, renewal: Renewal | null): string {
  const status = statusOf(error);
  if (status === 401) {
    if (renewal === 'done') return texts.unauthorised; // a new session did not help
    return `${texts.unauthorised} ${renewal === null ? texts.tryingNewSession : texts.newSessionFailed}`;
  }
  if (status === 500) return texts.internal;
  if (status !== null || error instanceof NoAnswerError) return error.message;
  return texts.failed;
}

/** Null when the server did not answer, or answered with success. */
function statusOf(error: unknown): number | null {
  return error instanceof AppError || error instanceof UnexpectedAnswerError ? error.status : null;
}

/** @throws Error 'Image ID is required' */
function requireId(imageId: string): string {
  if (imageId === '') throw new Error('Image ID is required');
  return imageId;
}

/** Address of a slide's thumbnail, image session included. @throws Error 'Image ID is required' */
export function thumbnailAddress(imageId: string, session: string): string {
  return addressOf(getThumbnail, { imageId: requireId(imageId) }, { session });
}

/** Address of a slide's Deep Zoom descriptor, for `fetchPixels`. @throws Error 'Image ID is required' */
export function descriptorAddress(imageId: string): string {
  return addressOf(getDescriptor, { imageId: requireId(imageId) });
}

/**
 * Address of one tile, for `fetchPixels`. Level 0 is one pixel.
 *
 * @throws Error 'Image ID is required'
 */
export function tileAddress(
  imageId: string,
  tile: { readonly level: number; readonly column: number; readonly row: number; readonly format: string },
): string {
  return addressOf(getTile, {
    imageId: requireId(imageId),
    dziLevel: String(tile.level),
    tile: `${tile.column}_${tile.row}.${tile.format}`,
  });
}

interface PixelRequest {
  readonly signal: AbortSignal;
  /** The session was refused; a new one is being made. */
  readonly onRenewing: () => void;
  readonly priority?: RequestPriority;
}

/**
 * Load pixels with the image session of this moment. A 401 renews the session, once for everybody who
 * was refused it, and is followed by one retry after 1 s.
 *
 * @returns whatever the server answered, a second 401 included; 'session-lost' when no session could be made
 * @throws TypeError when there was no answer; the abort's reason
 */
export async function fetchPixels(
  address: string,
  { signal, onRenewing, ...how }: PixelRequest,
  sessions: Pick<ImageSessions, 'get' | 'renew'> = imageSessions,
): Promise<Response | 'session-lost'> {
  const session = await sessions.get().catch(() => null);
  signal.throwIfAborted();
  if (session === null) return 'session-lost';
  const asked = { signal, headers: { 'Accept-Language': acceptLanguage() }, ...how };
  const answer = await fetch(withSession(address, session), asked);
  if (answer.status !== 401) return answer;

  onRenewing();
  const renewed = await sessions.renew(session).catch(() => null);
  signal.throwIfAborted();
  if (renewed === null) return 'session-lost';
  await delay(retryDelayMs, signal);
  return fetch(withSession(address, renewed), asked);
}

function withSession(address: string, session: string): string {
  return `${address}?${new URLSearchParams({ session })}`;
}
