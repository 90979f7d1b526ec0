/** The product (the server and its render workers), started with the slides of the bench and the settings of a production server. */
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callApi, signIn } from '../services/api-client.ts';
import type { BenchEnvironment } from './environment.ts';
import { startServer } from './server-process.ts';

/** The first account of the product, which the server creates at its start. */
export const administrator = { email: 'bench@example.org', password: 'as fast as glass' };

export interface CatalogueImage {
  readonly id: string;
  readonly file_name: string;
  readonly status: string; // 'pending' until the server has ingested the slide
}

export interface RunningProduct {
  /** Base URL. */
  readonly url: string;
  readonly port: number;
  /** Process ids of the server, without its child processes. */
  readonly processIds: readonly number[];
  /** Bearer token of the administrator. */
  readonly token: string;
  /** Returns the catalogue id of a slide. @throws Error when the slide is not in the catalogue */
  imageIdOf(fileName: string): string;
  /** Returns the URL path of a tile. @param tile `level/column_row` @param session image session; by default the administrator's */
  tilePath(id: string, tile: string, session?: string): string;
  stop(): Promise<void>;
}

/** Returns the URL path of a tile. @param tile `level/column_row` */
export function tilePathOf(imageId: string, tile: string, session: string): string {
  return `/api/v1/image-catalog/proxy/${imageId}/image_files/${tile}.jpeg?session=${session}`;
}

/** Starts the product and waits until it has ingested all slides, of which there are at least `slideCount` (by default 3). */
export async function startProduct(
  { slides, cache, pin, checkout }: Omit<BenchEnvironment, 'tileSize'>,
  env: NodeJS.ProcessEnv = {},
  slideCount?: number,
): Promise<RunningProduct> {
  const server = await startServer(
    join(cache, 'log', 'product.log'),
    {
      DATA_DIR: join(cache, 'data'),
      SLIDES_DIR: slides,
      DEMO: 'off',
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
      IMAGE_SESSION_TTL: '86400', // seconds
      LOG_LEVEL: 'warn',
      ...env,
    },
    pin,
    checkout,
  );
  const { url, port, pid, stop } = server;
  try {
    const token = await signIn(url, administrator);
    const images = await waitForImages(url, token, slideCount);
    const adminSession = await createImageSession(url, token);
    const imageIdOf = (fileName: string) => idOf(images, fileName);
    const tilePath = (id: string, tile: string, session = adminSession) => tilePathOf(id, tile, session);
    return { url, port, processIds: [pid], token, imageIdOf, tilePath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Returns the id of a new image session, the credential with which tiles are requested. */
export async function createImageSession(url: string, token: string): Promise<string> {
  const { session_id: session } = await callApi<{ session_id: string }>(url, 'POST', '/auth/image-session', {
    token,
  });
  return session;
}

/**
 * Waits until the catalogue contains at least `slideCount` slides (by default the 3 of the bench) and the server has ingested all
 * its slides.
 */
export async function waitForImages(
  url: string,
  token: string,
  slideCount = 3,
): Promise<readonly CatalogueImage[]> {
  for (;;) {
    const { images } = await callApi<{ images: CatalogueImage[] }>(url, 'GET', '/image-catalog/images', {
      token,
    });
    if (images.length >= slideCount && images.every(({ status }) => status !== 'pending')) return images;
    await setTimeout(200);
  }
}

/** Returns the id of an image. @throws Error when no image has the file name */
export function idOf(images: readonly CatalogueImage[], fileName: string): string {
  const image = images.find(({ file_name }) => file_name === fileName);
  if (image === undefined) throw new Error(`${fileName} is not in the catalogue.`);
  return image.id;
}
