/** A test server with functions that write slide files, scan them and request their pixels. */
import fs from 'node:fs/promises';
import path from 'node:path';
import { apiBase, createImageSession, listImages } from '@lamina/contract';
import type { InjectOptions, LightMyRequestResponse } from 'fastify';
import { isMetadataName } from '../catalogue/metadata-files.ts';
import { injectRequest } from './inject.ts';
import { type TestServer, type TestUser, testServer } from './test-server.ts';

export interface SlideServer extends TestServer {
  /** Writes a file to the slide folder, replacing an existing one. @param filePath relative to the slide folder */
  put(filePath: string, bytes: Uint8Array | string): Promise<void>;
  /** Scans the slide folder and waits until all slides are in the catalogue. */
  rescan(): Promise<void>;
  /** Returns the image id of a slide. @throws Error when the catalogue does not contain the slide */
  idOf(fileName: string): Promise<string>;
  /** Opens an image session (the credential of pixel requests). @param who account or bearer token @returns the session id */
  sessionOf(who: TestUser | string): Promise<string>;
  /** Requests a URL below `image-catalog/proxy/`. @param session id of an image session; null: without one */
  pixels(
    url: string,
    session: string | null,
    request?: Omit<InjectOptions, 'url'>,
  ): Promise<LightMyRequestResponse>;
}

export async function slideServer(options: Parameters<typeof testServer>[0] = {}): Promise<SlideServer> {
  const server = await testServer(options);
  const { app, services, config, as } = server;
  const admin = await server.fixtures.admin();
  return {
    ...server,
    async put(filePath, bytes) {
      const file = path.join(config.slidesDir, filePath);
      await fs.mkdir(path.dirname(file), { recursive: true });
      // The file gets its name when it is complete, so that a scan never reads a part of it.
      await fs.writeFile(`${file}.part`, bytes);
      if (isMetadataName(path.basename(filePath))) {
        // A scan postpones a metadata file (such as catalogue.csv) that has changed within the last second. A
        // modification time in the future avoids this.
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
    pixels: (url, session, request = {}) =>
      injectRequest(app, {
        ...request,
        url: `${apiBase}/image-catalog/proxy/${url}${session === null ? '' : `?session=${session}`}`,
      }),
  };
}
