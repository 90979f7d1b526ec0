/** A test server with a slide folder, and requests for pixels. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { apiBase, createImageSession, listImages } from '@lamina/contract';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { isMetadataName } from '../catalogue/metadata-files.ts';
import { injectRequest } from './inject.ts';
import { type TestServer, type TestUser, testServer } from './test-server.ts';

export interface SlideServer extends TestServer {
  /** Puts a file into the slide folder, in the place of one that was there. */
  put(place: string, bytes: Uint8Array | string): Promise<void>;
  /** Looks through the slide folder, and waits until everything there has been read. */
  rescan(): Promise<void>;
  /** Id of the entry with this file name, as an administrator sees it. */
  idOf(fileName: string): Promise<string>;
  /** Opens an image session. */
  sessionOf(who: TestUser | string): Promise<string>;
  /** An address below `image-catalog/proxy/`, asked for as an image element would. */
  pixels(
    address: string,
    session: string | null,
    request?: Omit<InjectOptions, 'url'>,
  ): Promise<LightMyRequestResponse>;
}

export async function slideServer(world: Parameters<typeof testServer>[0] = {}): Promise<SlideServer> {
  const server = await testServer(world);
  const { app, services, config, as } = server;
  const admin = await server.given.admin();
  return {
    ...server,
    async put(place, bytes) {
      const file = path.join(config.slidesDir, place);
      await fs.mkdir(path.dirname(file), { recursive: true });
      // As a careful copy does: whole, or not at all.
      await fs.writeFile(`${file}.part`, bytes);
      if (isMetadataName(path.basename(place))) {
        // As on a file server whose clock is fast: a scan waits a second for a file that changed just now.
        const inAnHour = new Date(Date.now() + 3_600_000);
        await fs.utimes(`${file}.part`, inAnHour, inAnHour);
      }
      await fs.rename(`${file}.part`, file);
    },
    async rescan() {
      await services.catalogue.rescan();
      await services.catalogue.settled();
    },
    async idOf(fileName) {
      const { images } = (await as(admin).call(listImages)).body;
      const image = images.find(({ file_name }) => file_name === fileName);
      if (image === undefined) throw new Error(`${fileName} is not in the catalogue`);
      return image.id;
    },
    async sessionOf(who) {
      const { status, body } = await as(who).call(createImageSession);
      if (status !== 201) throw new Error(`no image session: ${JSON.stringify(body)}`);
      return body.session_id;
    },
    pixels: (address, session, request = {}) =>
      injectRequest(app, {
        ...request,
        url: `${apiBase}/image-catalog/proxy/${address}${session === null ? '' : `?session=${session}`}`,
      }),
  };
}
