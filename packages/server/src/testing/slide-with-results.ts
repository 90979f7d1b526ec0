/** A test server with a slide, and functions that upload result layers (results of an analysis program) and request their content. */
import { apiBase, createImageSession, createResultLayer, listResultLayers } from '@lamina/contract';
import { expect } from 'vitest';
import type { databaseKinds } from '../store/testing/test-database.ts';
import { type TestUser, testServer } from './test-server.ts';

/** Starts a server with a slide of 1000 × 800 pixels and a user, the owner of the result layers. */
export async function slideWithResults(database: (typeof databaseKinds)[number] = 'SQLite') {
  const server = await testServer({ database });
  const { fixtures, app, services } = server;
  const image = await fixtures.image({ width: 1000, height: 800, mpp_x: 0.5, mpp_y: 0.5, fingerprint: 'x' });
  const owner = await fixtures.user();
  const bearer = await fixtures.token(owner);

  /** Sends a request of the tus protocol (resumable uploads) with the token of the owner. */
  async function request(
    method: 'POST' | 'PATCH' | 'HEAD' | 'GET',
    url: string,
    headers = {},
    payload?: Buffer,
  ) {
    return app.inject({
      method,
      url,
      headers: { authorization: `Bearer ${bearer}`, 'tus-resumable': '1.0.0', ...headers },
      ...(payload && { payload }),
    });
  }

  const sessionIdByUid = new Map<string, string>();
  /** Returns the tus headers of a request that sends the bytes of a file from `offset` on. */
  const partHeaders = (offset: number) => ({
    'content-type': 'application/offset+octet-stream',
    'upload-offset': String(offset),
  });

  /** Creates a layer and sends its file. @returns the layer after its import */
  async function send(
    bytes: Uint8Array,
    body: { readonly kind?: 'raster' | 'vector'; registration?: object } = {},
  ) {
    const created = await server.as(bearer).call(createResultLayer, {
      params: { imageId: image.id },
      body: { name: 'Tumor', kind: 'raster', ...body } as never, // also bodies that the contract does not allow
    });
    expect(created.status).toBe(201);
    const uploadUrl = created.body.upload as string;
    await request('POST', uploadUrl, { 'upload-length': String(bytes.length) });
    if (bytes.length > 0) {
      const partResponse = await request('PATCH', uploadUrl, partHeaders(0), Buffer.from(bytes));
      expect(partResponse.statusCode).toBe(204);
    }
    await services.jobs.idle('import-result');
    const { body: list } = await server.as(bearer).call(listResultLayers, { params: { imageId: image.id } });
    const layer = list.layers.find(({ id }) => id === created.body.id);
    if (layer === undefined) throw new Error('The layer is not in the list.');
    return layer;
  }

  /** Requests content of a layer with an image session (a credential). @param rest path and query below the layer */
  async function overlay(layerId: string, rest: string, who: TestUser = owner) {
    const sessionId =
      sessionIdByUid.get(who.uid) ?? (await server.as(who).call(createImageSession)).body.session_id;
    sessionIdByUid.set(who.uid, sessionId);
    const separator = rest.includes('?') ? '&' : '?';
    return app.inject({
      method: 'GET',
      url: `${apiBase}/image-catalog/overlays/${layerId}/${rest}${separator}session=${sessionId}`,
    });
  }
  return { server, image, owner, bearer, request, part: partHeaders, send, overlay };
}
