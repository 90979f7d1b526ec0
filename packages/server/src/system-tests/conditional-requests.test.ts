/**
 * Tests that the OpenAPI document states the status 304 for exactly the endpoints that answer with it. The type of `serve` rejects a
 * handler that returns an ETag without `hasEtag` in the contract; this test sends the requests, also to handlers that write their
 * responses themselves.
 */
import { apiBase, createImageSession, type Endpoint, endpoints } from '@lamina/contract';
import sharp from 'sharp';
import { expect, it, vi } from 'vitest';
import { imageIdOf } from '../dicomweb/uids.ts';
import { injectRequest } from '../testing/inject.ts';
import { slideWithResults } from '../testing/slide-with-results.ts';
import { type WellFormedRequest, wellFormedRequests } from '../testing/well-formed-requests.ts';

vi.setConfig({ testTimeout: 120_000 });

/** The server with a slide; set by the test. */
let results: Awaited<ReturnType<typeof slideWithResults>>;
const { caller, requestFor } = wellFormedRequests(() => results.server);
const declarations: Readonly<Record<string, Endpoint>> = endpoints;

/** Uploads a raster and a vector layer. @returns paths of their content by endpoint */
async function overlayPaths(): Promise<Readonly<Record<string, string>>> {
  const raster = await results.send(
    await sharp(Buffer.alloc(64 * 64, 7), { raw: { width: 64, height: 64, channels: 1 } })
      .png()
      .toBuffer(),
  );
  const cell = {
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [5, 5] },
    properties: { objectType: 'cell', measurements: { Area: 1 } },
  };
  const collection = Buffer.from(JSON.stringify({ type: 'FeatureCollection', features: [cell] }));
  const vector = await results.send(collection, { kind: 'vector' });
  const below = (id: string, rest: string) => `/image-catalog/overlays/${id}/${rest}`;
  return {
    getOverlayDescriptor: below(raster.id, 'descriptor'),
    getOverlayTile: below(raster.id, 'tiles/0/0_0.png'),
    getOverlayValue: below(raster.id, 'value?x=1&y=1'),
    countOverlayObjects: below(vector.id, 'counts'),
    pickOverlayObject: below(vector.id, 'pick?x=5&y=5'),
    getOverlayIndex: below(vector.id, 'index'),
    getOverlayBlock: below(vector.id, 'blocks/0'),
    getOverlayCenters: below(vector.id, 'centers'),
    getOverlayMeasurement: below(vector.id, 'measurements/0'),
    getOverlayDensity: below(vector.id, 'density/0/0'),
  };
}

/** Returns requests with an image session, by endpoint. @param imageId a slide with a colour profile */
async function sessionRequests(imageId: string, token: string, person: Awaited<ReturnType<typeof caller>>) {
  const { body } = await results.server.as(token).call(createImageSession);
  const session = body.session_id;
  const paths = {
    ...(await overlayPaths()),
    getDescriptor: `/image-catalog/proxy/${imageId}/image.dzi`,
    getColourTable: `/image-catalog/proxy/${imageId}/colour-table`,
    getThumbnail: `/image-catalog/proxy/${imageId}/thumbnail.jpg`,
    getTile: `/image-catalog/proxy/${imageId}/image_files/0/0_0.jpg`,
  };
  const withQuery = Object.entries(paths).map(([name, url]): [string, WellFormedRequest] => [
    name,
    { url: `${url}${url.includes('?') ? '&' : '?'}session=${session}` },
  ]);
  const inPath = Object.keys(endpoints)
    .filter((name) => name.startsWith('iiifSession'))
    .map(async (name): Promise<[string, WellFormedRequest]> => {
      const { url } = await requestFor(name.replace('Session', ''), person, false);
      return [name, { url: url.replace('/iiif/', `/iiif/session/${session}/`) }];
    });
  return Object.fromEntries([...withQuery, ...(await Promise.all(inPath))]);
}

it('the OpenAPI document states the status 304 and the header If-None-Match for exactly the endpoints that answer 304 to the ETag of their response', async () => {
  results = await slideWithResults();
  const person = await caller('admin');
  const token = person.token ?? '';
  const { url: studyUrl } = await requestFor('getStudyMetadata', person, false);
  const imageId = imageIdOf(studyUrl.split('/')[3] ?? '') ?? '';
  // Writing that slide scanned the folder, which has no file of the slide with results.
  const { db } = results.server.services;
  await db.updateTable('images').set({ missing_since: null }).where('id', '=', results.image.id).execute();
  const bySession = await sessionRequests(imageId, token, person);

  /** Sends a request with further headers. */
  const send = ({ url, query, headers }: WellFormedRequest, name: string, more = {}) =>
    injectRequest(results.server.app, {
      method: 'GET',
      url: apiBase + url,
      ...(query && { query }),
      headers: { ...headers, ...(!(name in bySession) && { authorization: `Bearer ${token}` }), ...more },
    });

  const answering: string[] = [];
  const failed: unknown[] = [];
  for (const [name, { method }] of Object.entries(declarations)) {
    if (method !== 'GET') continue;
    const request = bySession[name] ?? (await requestFor(name, person, false));
    const first = await send(request, name);
    if (first.statusCode >= 400 && declarations[name]?.hasEtag) failed.push([name, first.body]);
    const { etag } = first.headers;
    if (etag === undefined) continue;
    const second = await send(request, name, { 'if-none-match': etag });
    if (second.statusCode === 304) answering.push(name);
  }
  expect(failed).toEqual([]);

  const document = (await results.server.app.inject(`${apiBase}/openapi.json`)).json<{
    paths: Record<
      string,
      Record<string, { operationId: string; parameters: { name: string }[]; responses: object }>
    >;
  }>();
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const stating304 = operations.filter(({ responses }) => '304' in responses);
  const statingHeader = operations.filter(({ parameters }) =>
    parameters.some(({ name }) => name === 'If-None-Match'),
  );
  const namesOf = (list: typeof operations) => list.map(({ operationId }) => operationId).sort();
  expect(namesOf(stating304)).toEqual(answering.sort());
  expect(namesOf(statingHeader)).toEqual(answering);
  expect(answering.length).toBeGreaterThan(30);
});
