/** The documentation of the API through HTTP: the OpenAPI document, and the pages that show it. */
import { apiBase, endpoints } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { required?: string[] } }> };
  readonly responses: Record<
    string,
    { readonly description: string; readonly content?: object; readonly headers?: object }
  >;
}
interface Document {
  readonly openapi: string;
  readonly paths: Record<string, Record<string, Operation>>;
  readonly components: { readonly schemas: Record<string, { readonly properties?: object }> };
}

async function requestDocument(): Promise<Document> {
  const { app } = await testServer();
  const response = await app.inject(`${apiBase}/openapi.json`);
  expect(response.statusCode).toBe(200);
  return response.json<Document>();
}

/** Returns content types and names of headers of the responses without an error, by status. */
function successResponses(call: Operation | undefined) {
  return Object.fromEntries(
    Object.entries(call?.responses ?? {})
      .filter(([status]) => Number(status) < 400)
      .map(([status, { content = {}, headers = {} }]) => [
        status,
        { content: Object.keys(content), headers: Object.keys(headers) },
      ]),
  );
}

const parameterNames = (call: Operation | undefined, place: string) =>
  call?.parameters.filter((parameter) => parameter.in === place).map(({ name }) => name);

describe('the OpenAPI document of the server API (openapi.json)', () => {
  it('has the version 3.1 and lists exactly the endpoints that the contract package declares', async () => {
    const { openapi, paths } = await requestDocument();
    expect(openapi).toBe('3.1.0');
    const listedOperations = Object.values(paths).flatMap((path) =>
      Object.values(path).map((call) => call.operationId),
    );
    expect(listedOperations.sort()).toEqual(Object.keys(endpoints).sort());
    for (const [name, { method, path }] of Object.entries(endpoints)) {
      const address = path.replace(/:(\w+)/g, '{$1}').replace('*', '{path}');
      expect(paths[address]?.[method.toLowerCase()]?.operationId).toBe(name);
    }
  });

  it('names every parameter and the authentication of each endpoint', async () => {
    const { paths } = await requestDocument();
    // The documentation omits the parameter `session`, which is the authentication of the endpoint.
    const tile = paths['/image-catalog/proxy/{imageId}/image_files/{dziLevel}/{tile}']?.get;
    expect(tile?.parameters.map(({ name, in: place }) => [name, place])).toEqual([
      ['imageId', 'path'],
      ['dziLevel', 'path'],
      ['tile', 'path'],
      ['colour', 'query'],
      ['If-None-Match', 'header'],
    ]);
    const byApiToken = { apiToken: ['slides:read'] };
    expect(tile?.security).toEqual([{ imageSession: [] }, byApiToken]);
    const list = paths['/image-catalog/images']?.get;
    expect(list?.security).toEqual([{ bearerToken: [] }, byApiToken]);
    expect(list?.parameters.filter(({ required }) => required)).toEqual([]);
    expect(list?.parameters.map(({ name }) => name)).toContain('cursor');
    expect(paths['/auth/register']?.post?.security).toEqual([]);
  });

  it('marks body fields that have a default as optional', async () => {
    const { paths } = await requestDocument();
    const body = paths['/auth/register']?.post?.requestBody?.content['application/json'];
    expect(body?.schema.required).toEqual(['email', 'password']);
  });

  it('lists the error statuses and error codes of an endpoint, for example POST /admin/users/{uid}/approve', async () => {
    const { paths } = await requestDocument();
    const approve = paths['/admin/users/{uid}/approve']?.post?.responses;
    expect(Object.keys(approve ?? {})).toEqual([
      '200',
      '400',
      '401',
      '403',
      '404',
      '409',
      '413',
      '415',
      '500',
      '503',
    ]);
    expect(approve?.['409']?.description).toContain('already_active');
    expect(approve?.['401']?.description).toContain('token_missing');
  });

  it('documents the redirect of an IIIF image identifier, and all content types of IIIF images and documents', async () => {
    const { paths } = await requestDocument();
    for (const base of ['/iiif', '/iiif/session/{sessionId}']) {
      const successOf = (path: string) => successResponses(paths[`${base}${path}`]?.get);
      expect(successOf('/image/{imageId}')).toEqual({
        200: { content: ['application/json', 'application/ld+json'], headers: [] }, // after the redirect
        303: { content: [], headers: ['Location'] },
      });
      const images = { content: ['image/jpeg', 'image/png'], headers: ['ETag'] };
      const unchanged = { content: [], headers: ['ETag'] };
      expect(successOf('/image/{imageId}/{region}/{size}/{rotation}/{quality}')).toEqual({
        200: images,
        304: unchanged,
      });
      for (const path of [
        '/image/{imageId}/info.json',
        '/manifest/{imageId}',
        '/manifest/case/{caseId}',
        '/manifest/collection/{collectionId}',
      ]) {
        const documents = { content: ['application/json', 'application/ld+json'], headers: ['ETag'] };
        expect([path, successOf(path)]).toEqual([path, { 200: documents, 304: unchanged }]);
      }
    }
  });

  it('documents byte ranges, ETags and the list of files for the download of slide files (originals)', async () => {
    const { paths, components } = await requestDocument();
    const fileHeaders = ['ETag', 'Accept-Ranges', 'Content-Disposition'];
    const parts = { content: ['application/octet-stream'], headers: [...fileHeaders, 'Content-Range'] };
    const original = paths['/image-catalog/images/{imageId}/original']?.get;
    expect(successResponses(original)).toEqual({
      200: { content: ['application/octet-stream', 'application/json'], headers: fileHeaders },
      206: parts,
      304: { content: [], headers: ['ETag'] },
    });
    expect(components.schemas).toHaveProperty('OriginalFiles');
    expect(JSON.stringify(original)).toContain('"#/components/schemas/OriginalFiles"');
    const file = paths['/image-catalog/images/{imageId}/original/{path}']?.get;
    expect(successResponses(file)).toMatchObject({
      200: { content: ['application/octet-stream'] },
      206: parts,
    });
    for (const call of [original, file]) {
      expect(parameterNames(call, 'header')).toEqual(['Range', 'If-Range', 'If-None-Match']);
    }
  });

  it('documents the query parameters of DICOMweb searches, and all media types of DICOMweb frames and ICC profiles', async () => {
    const { paths } = await requestDocument();
    const study = '/dicom-web/studies/{study}';
    const instance = `${study}/series/{series}/instances/{instance}`;
    const searches = [
      '/dicom-web/studies',
      '/dicom-web/series',
      '/dicom-web/instances',
      `${study}/series`,
      `${study}/instances`,
      `${study}/series/{series}/instances`,
    ];
    for (const path of searches) {
      expect([path, parameterNames(paths[path]?.get, 'query')]).toEqual([
        path,
        [
          'attributes',
          'limit',
          'offset',
          'includefield',
          'fuzzymatching',
          'emptyvaluematching',
          'multiplevaluematching',
        ],
      ]);
    }
    const contentOf = (path: string) => successResponses(paths[path]?.get)['200']?.content;
    expect(contentOf(`${instance}/frames/{frames}`)).toEqual([
      'multipart/related',
      'application/octet-stream',
      'image/jpeg',
      'image/jp2',
    ]);
    expect(contentOf(`${instance}/bulkdata/icc`)).toEqual([
      'multipart/related',
      'application/octet-stream',
      'application/vnd.iccprofile',
    ]);
  });

  it('documents the body and the headers of the requests with which tus clients send a file in parts', async () => {
    const { paths } = await requestDocument();
    for (const [creation, part] of [
      ['/admin/upload-files', '/admin/upload-files/{fileId}'],
      ['/result-layers/{layerId}/file', '/result-layers/{layerId}/file'],
    ] as const) {
      const [post, get, patch] = [paths[creation]?.post, paths[part]?.get, paths[part]?.patch];
      expect(parameterNames(post, 'header')).toContain('Upload-Length');
      expect(successResponses(post)['201']?.headers).toContain('Location');
      expect(successResponses(get)['200']?.headers).toEqual(
        expect.arrayContaining(['Upload-Offset', 'Upload-Length']),
      );
      expect(Object.keys(patch?.requestBody?.content ?? {})).toEqual(['application/offset+octet-stream']);
      expect(parameterNames(patch, 'header')).toEqual(
        expect.arrayContaining(['Tus-Resumable', 'Upload-Offset']),
      );
      expect(successResponses(patch)).toEqual({
        204: { content: [], headers: ['Tus-Resumable', 'Upload-Offset'] },
      });
    }
  });

  it('contains no schema that is only a reference to itself', async () => {
    const { components } = await requestDocument();
    const selfReferences = Object.entries(components.schemas).filter(([name, schema]) =>
      JSON.stringify(schema).startsWith(`{"$ref":"#/components/schemas/${name}"`),
    );
    expect(selfReferences.map(([name]) => name)).toEqual([]);
  });

  it('has a body schema for every error status', async () => {
    const { paths } = await requestDocument();
    const schema = { $ref: '#/components/schemas/Error' };
    for (const [address, path] of Object.entries(paths)) {
      for (const { responses } of Object.values(path)) {
        for (const [status, { content }] of Object.entries(responses)) {
          if (Number(status) < 400) continue;
          expect(content, `${address} ${status}`).toEqual({ 'application/json': { schema } });
        }
      }
    }
  });

  it('defines exactly the schemas that it refers to', async () => {
    const document = await requestDocument();
    const references = JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g);
    const referredTo = new Set([...references].map(([, reference]) => reference));
    const schemaReferences = Object.keys(document.components.schemas).map(
      (name) => `#/components/schemas/${name}`,
    );
    expect(referredTo).toEqual(new Set(schemaReferences));
    expect(referredTo.size).toBeGreaterThan(4);
  });
});

describe('the HTML documentation of the API (/api/docs/)', () => {
  it('loads all scripts and styles from this server', async () => {
    const { app } = await testServer();
    const page = await app.inject('/api/docs/');
    expect(page.statusCode).toBe(200);
    const addresses = [...page.body.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, address]) => address ?? '');
    expect(addresses.length).toBeGreaterThan(4);
    for (const address of addresses) {
      const { pathname, host } = new URL(address, 'http://here/api/docs/');
      expect(host).toBe('here');
      expect((await app.inject(pathname)).statusCode, pathname).toBe(200);
    }
    const { paths } = (await app.inject('/api/docs/json')).json<Document>();
    expect(Object.keys(paths)).toContain('/image-catalog/images');
  });

  it('has no inline scripts, which its Content-Security-Policy header forbids', async () => {
    const { app } = await testServer();
    const page = await app.inject('/api/docs/');
    expect(page.headers['content-security-policy']).toContain("script-src 'self'");
    expect(page.body).not.toMatch(/<script(?![^>]*\ssrc=)[^>]*>/);
    expect(page.body).not.toMatch(/\son\w+=/);
  });
});
