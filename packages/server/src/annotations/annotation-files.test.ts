/** Tests the import and export of annotation files of QuPath, ASAP and Aperio through HTTP. */
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import {
  type AnnotationImport,
  exportAnnotationFile,
  importAnnotationFile,
  listAnnotations,
} from '@lamina/contract';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LayerRow } from '../store/annotation-layers.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type TestServer, type TestUser, testServer } from '../testing/test-server.ts';

/** Returns a closed triangle, whose left corner is at `x`. */
const ring = (x: number) => [
  [x, 0],
  [x + 10, 0],
  [x + 10, 10],
  [x, 0],
];

function feature(id: string, x = 0, properties: object = {}) {
  return {
    type: 'Feature',
    id,
    geometry: { type: 'Polygon', coordinates: [ring(x)] },
    properties: { objectType: 'annotation', ...properties },
  };
}

const collection = (...features: object[]) => JSON.stringify({ type: 'FeatureCollection', features });

describe.each(databaseKinds)('import and export of annotation files (database: %s)', (database) => {
  let server: TestServer;
  let owner: TestUser;
  let layer: LayerRow;

  beforeAll(async () => {
    server = await testServer({ database, isShared: true });
  }, 60_000);
  afterAll(() => server.close());
  beforeEach(async () => {
    owner = await server.fixtures.user();
    layer = await server.fixtures.layer({ owner_uid: owner.uid });
  });

  async function importFile(
    file: string | Buffer,
    query: Record<string, string> = {},
    type = 'application/geo+json',
    caller = owner,
  ) {
    const { status, body } = await server.as(caller).inject({
      method: 'POST',
      url: importAnnotationFile.path.replace(':layerId', layer.id),
      query,
      payload: file,
      headers: { 'content-type': type },
    });
    return { status, body: body as AnnotationImport & { readonly code?: string; readonly message?: string } };
  }

  async function exportFile(format: string): Promise<string> {
    const response = await server
      .as(owner)
      .call(exportAnnotationFile, { params: { layerId: layer.id }, query: { format } });
    expect(response.status).toBe(200);
    return String(response.body);
  }

  async function storedFeatures(): Promise<
    readonly { readonly id: string; readonly properties: Record<string, unknown> }[]
  > {
    const response = await server.as(owner).call(listAnnotations, { params: { layerId: layer.id } });
    return (JSON.parse(String(response.body)) as { features: [] }).features;
  }

  describe('POST annotation import', () => {
    it('imports a QuPath file, after which the export returns an equal file', async () => {
      const child = feature(randomUUID(), 20, { measurements: { 'Area µm^2': 1.5, Ki67: 'NaN' } });
      const parent = feature(randomUUID(), 0, {
        name: 'A',
        color: [1, 2, 3],
        classification: { name: 'Tumor', color: [200, 0, 0] },
        isLocked: true,
        childObjects: [child],
        metadata: { key: 'value' },
      });
      const { status, body } = await importFile(collection(parent));
      expect({ status, body }).toMatchObject({
        status: 200,
        body: {
          dry_run: false,
          format: 'qupath',
          imported: 2,
          features: 2,
          vertices: 8,
          types: { annotation: 2 },
          classes: [
            { name: 'Tumor', count: 1 },
            { name: null, count: 1 },
          ],
          refused_count: 0,
          refused: [],
          version: 2,
        },
      });
      expect(JSON.parse(await exportFile('qupath'))).toEqual({
        type: 'FeatureCollection',
        features: [parent],
      });
    });

    it('changes no stored annotation in a dry run', async () => {
      const { body } = await importFile(collection(feature(randomUUID())), { dry_run: 'true' });
      expect(body).toMatchObject({ dry_run: true, imported: 0, features: 1, version: 1 });
      expect(await storedFeatures()).toEqual([]);
    });

    it.each(['true', 'false'])(
      'returns 409 layer_full when the layer would have 50,001 annotations after the import, and 200 for 50,000 (query dry_run=%s)',
      async (dry_run) => {
        const existing = randomUUID();
        await importFile(collection(feature(existing)));
        await server.services.db
          .updateTable('annotation_layers')
          .set({ annotation_count: 49_999 })
          .where('id', '=', layer.id)
          .execute();
        const file = collection(feature(existing, 50), feature(randomUUID()));
        const tooMany = collection(feature(randomUUID()), feature(randomUUID()));
        expect(await importFile(tooMany, { dry_run })).toMatchObject({
          status: 409,
          body: { code: 'layer_full' },
        });
        expect(await importFile(file, { dry_run })).toMatchObject({ status: 200, body: { features: 2 } });
      },
    );

    it('updates changed annotations whose id the layer already has, and keeps the revision of unchanged ones', async () => {
      const [first, second] = [randomUUID(), randomUUID()];
      await importFile(collection(feature(first), feature(second)));
      const { body } = await importFile(collection(feature(first), feature(second, 50)));
      expect(body).toMatchObject({ imported: 1, features: 2, version: 3 });
      expect((await storedFeatures()).map(({ id, properties }) => [id, properties.revision])).toEqual([
        [first, 1],
        [second, 2],
      ]);
    });

    it('writes no audit event when an administrator imports a file that changes nothing into a layer of another account', async () => {
      const admin = await server.fixtures.admin();
      const file = collection(feature(randomUUID()));
      await importFile(file);
      const { body } = await importFile(file, {}, 'application/geo+json', admin);
      expect(body).toMatchObject({ imported: 0, features: 1, version: 2 });
      const events = server.services.db.selectFrom('audit').select('action');
      expect(await events.where('target', '=', layer.image_id).execute()).toEqual([]);
    });

    it('returns 400 for a file when its parsing exceeds the time limit', async () => {
      const timeout = vi
        .spyOn(AbortSignal, 'timeout')
        .mockReturnValue(AbortSignal.abort(new DOMException('', 'TimeoutError')));
      const { status, body } = await importFile(collection(feature(randomUUID())));
      timeout.mockRestore();
      expect([status, body.code]).toEqual([400, 'invalid_request']);
      expect((await importFile(collection(feature(randomUUID())))).status).toBe(200);
    });

    it('imports a gzip file that is sent with the content type application/octet-stream', async () => {
      const { body } = await importFile(
        gzipSync(collection(feature(randomUUID()))),
        {},
        'application/octet-stream',
      );
      expect(body).toMatchObject({ imported: 1 });
    });

    it('imports the annotation and its class of an XML file of Aperio ImageScope', async () => {
      const vertices = ring(0).map(([x, y]) => `<Vertex X="${x}" Y="${y}"/>`);
      const xml = `<Annotations><Annotation Name="Tumor" LineColor="255"><Regions><Region Type="0"><Vertices>${vertices.join('')}</Vertices></Region></Regions></Annotation></Annotations>`;
      const { body } = await importFile(xml, {}, 'application/xml');
      expect(body).toMatchObject({ format: 'aperio', imported: 1, classes: [{ name: 'Tumor', count: 1 }] });
    });

    it('returns 400 with a list of the invalid features and imports nothing; with skip_refused=true, imports the valid features', async () => {
      const id = randomUUID();
      const withShortRing = {
        ...feature(randomUUID()),
        geometry: { type: 'Polygon', coordinates: [ring(0).slice(0, 3)] },
      };
      const file = collection(feature(id), feature(id, 20), withShortRing);
      const { status, body } = await importFile(file);
      expect({ status, body }).toMatchObject({
        status: 400,
        body: {
          code: 'invalid_request',
          refused: [
            { feature: 2, line: null, code: 'duplicate_id', path: 'id' },
            { feature: 3, line: null, code: 'ring_too_short', path: 'geometry.coordinates[0]' },
          ],
        },
      });
      expect(await storedFeatures()).toEqual([]);
      expect((await importFile(file, { dry_run: 'true' })).body).toMatchObject({
        features: 1,
        refused_count: 2,
      });
      expect((await importFile(file, { skip_refused: 'true' })).body).toMatchObject({
        imported: 1,
        refused_count: 2,
      });
    });

    it.each<[string, () => string | Buffer, number]>([
      ['JSON with a million nested arrays', () => '['.repeat(1_000_000), 400],
      [
        'GeoJSON with 10^7 vertices',
        () => `{"type":"LineString","coordinates":[${'[1,2],'.repeat(10_000_000)}[1,2]]}`,
        400,
      ],
      [
        'XML with an entity declaration',
        () => '<!DOCTYPE a [<!ENTITY b "cc">]><Annotations>&b;</Annotations>',
        400,
      ],
      [
        'GeoJSON with NaN as a coordinate',
        () => '{"type":"Feature","geometry":{"type":"Point","coordinates":[NaN,1]},"properties":{}}',
        400,
      ],
      ['plain text', () => 'hello', 400],
      ['empty', () => '', 400],
      ['damaged gzip', () => gzipSync('x').subarray(0, 12), 400],
      ['gzip of 100 MiB of zeros', () => gzipSync(Buffer.alloc(100 * 2 ** 20)), 413],
    ])(
      'returns $2 with a message and stores no annotation when the imported file is $0',
      async (_, create, expected) => {
        const { status, body } = await importFile(create());
        expect([status, body.message]).toEqual([expected, expect.any(String)]);
        expect(await storedFeatures()).toEqual([]);
      },
    );

    it('returns layer_locked for a locked layer, and 403 for a shared layer that the account may not change', async () => {
      const other = await server.fixtures.user();
      await server.services.db
        .updateTable('annotation_layers')
        .set({ visibility: 'members' })
        .where('id', '=', layer.id)
        .execute();
      const file = collection(feature(randomUUID()));
      expect((await importFile(file, {}, 'application/geo+json', other)).status).toBe(403);
      await server.services.db
        .updateTable('annotation_layers')
        .set({ locked_by: 'owner' })
        .where('id', '=', layer.id)
        .execute();
      expect((await importFile(file)).body.code).toBe('layer_locked');
    });
  });

  describe('GET annotation export', () => {
    it.each([
      ['qupath', 'application/geo+json', '"FeatureCollection"'],
      ['geojson', 'application/geo+json', '"FeatureCollection"'],
      ['asap', 'application/xml', '<ASAP_Annotations>'],
      ['aperio', 'application/xml', '<Annotations'],
      ['csv', 'text/csv', 'Area µm^2'],
    ])(
      'returns, for the requested format %s, a file with the content type %s',
      async (format, type, text) => {
        await importFile(collection(feature(randomUUID())));
        const response = await server
          .as(owner)
          .call(exportAnnotationFile, { params: { layerId: layer.id }, query: { format } });
        expect(response.status).toBe(200);
        expect(String(response.headers['content-type'])).toContain(type);
        expect(String(response.headers['content-disposition'])).toContain('attachment');
        expect(String(response.body)).toContain(text);
      },
    );

    it('returns the coordinates of the imported file when import and export state the same offset_x and offset_y', async () => {
      const file = collection(feature(randomUUID(), 100));
      await importFile(file, { offset_x: '7', offset_y: '3' });
      const response = await server.as(owner).call(exportAnnotationFile, {
        params: { layerId: layer.id },
        query: { offset_x: '7', offset_y: '3' },
      });
      expect(JSON.parse(String(response.body))).toEqual(JSON.parse(file));
    });

    it('states in the header Lamina-Export-Warnings what the file format cannot store, and sends no such header when nothing is lost', async () => {
      const line = (length: number) => ({
        ...feature(randomUUID(), 0, { description: 'Ruler' }),
        geometry: { type: 'LineString', coordinates: ring(0).slice(0, length) },
      });
      await importFile(collection(line(2), line(3), line(3)));
      const warningsOf = async (format: string) => {
        const request = { params: { layerId: layer.id }, query: { format } };
        const response = await server.as(owner).call(exportAnnotationFile, request);
        return response.headers['lamina-export-warnings'];
      };
      expect(await warningsOf('asap')).toBe('lines_left_out=2, descriptions_left_out=3');
      expect(await warningsOf('qupath')).toBeUndefined();
    });

    it('returns the imported file when import and export both use offset=bounds (coordinates relative to the corner of the scanned area)', async () => {
      const image = await server.fixtures.image({ width: 1000, height: 1000, fingerprint: 'x' });
      layer = await server.fixtures.layer({ owner_uid: owner.uid, image_id: image.id });
      const tiling = vi
        .spyOn(server.services.slides, 'tiling')
        .mockResolvedValue({ boundsOrigin: { x: 7, y: 3 } } as never);
      const file = collection(feature(randomUUID(), 100));
      expect(await importFile(file, { offset: 'bounds' })).toMatchObject({ status: 200 });
      expect(JSON.parse(await exportFile('qupath'))).toMatchObject({
        features: [{ geometry: { coordinates: [ring(100).map(([x = 0, y = 0]) => [x + 7, y + 3])] } }],
      });
      const response = await server.as(owner).call(exportAnnotationFile, {
        params: { layerId: layer.id },
        query: { offset: 'bounds' },
      });
      tiling.mockRestore();
      expect(JSON.parse(String(response.body))).toEqual(JSON.parse(file));
    });

    it('returns 503 to an account while its client has not read another export of a layer of the maximum size', async () => {
      const { as, fixtures, services } = server;
      const counts = { vertex_count: 5_000_000, annotation_count: 50_000 };
      const large = await fixtures.layer({ owner_uid: owner.uid, ...counts });
      const token = await fixtures.token(owner);
      const call = { params: { layerId: large.id }, query: { format: 'geojson' } };
      expect((await as(token).call(exportAnnotationFile, call)).status).toBe(200);

      const actor = {
        uid: owner.uid,
        email: owner.email,
        tokenHash: '',
        origin: { address: '', requestId: '' },
      };
      const query = exportAnnotationFile.query.parse({ format: 'geojson' });
      const unread = await services.annotationFiles.export(actor, owner, large.id, query);
      expect(await as(token).call(exportAnnotationFile, call)).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });
      expect((await as(await fixtures.user()).call(exportAnnotationFile, call)).status).toBe(200);
      unread.stream.destroy();
      await vi.waitFor(async () =>
        expect((await as(token).call(exportAnnotationFile, call)).status).toBe(200),
      );
      // A response to HEAD ends at once.
      const url = exportAnnotationFile.path.replace(':layerId', large.id);
      for (let i = 0; i < 2; i++) expect((await as(token).inject({ method: 'HEAD', url })).status).toBe(200);
    });

    it('returns 404 for a private layer of another account', async () => {
      const hidden = await server.fixtures.layer({ owner_uid: owner.uid, visibility: 'private' });
      const other = await server.fixtures.user();
      const response = await server.as(other).call(exportAnnotationFile, { params: { layerId: hidden.id } });
      expect(response.status).toBe(404);
    });
  });
});
