/** The documentation of the API through HTTP: the OpenAPI document, and the pages that show it. */
import { apiBase, endpoints } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly parameters: readonly { readonly name: string; readonly in: string; readonly required: boolean }[];
  readonly requestBody?: { readonly content: Record<string, { readonly schema: { required?: string[] } }> };
  readonly responses: Record<string, { readonly description: string; readonly content?: object }>;
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

  it('lists the error statuses and error codes of an endpoint', async () => {
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
