/**
 * Sends characters that databases and screens handle badly, and that no name needs, in every text parameter of every endpoint. The cases
 * are generated from the contract, so they include new endpoints.
 */
import { createImageSession, type Endpoint, endpoints, listAudit, updateImage } from '@lamina/contract';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { databaseKinds } from '../store/testing/test-database.ts';
import { type Answer, type TestServer, testServer } from '../testing/test-server.ts';
import { type Caller, missingId, wellFormedRequests } from '../testing/well-formed-requests.ts';

const hostile = {
  NUL: '\0',
  ESC: '\x1b',
  'a tab': '\t',
  'RIGHT-TO-LEFT OVERRIDE': '\u202e',
  'a lone surrogate': '\ud800',
} as const;
type Hostile = keyof typeof hostile;

/** Fields with a credential. A wrong credential gets 401, also with hostile characters, and one that is not needed is ignored. */
const credentials = new Set(['password', 'current_password', 'token', 'session']);
/** Free text of several lines, which may contain tabs. */
const multiLine = new Set(['reason', 'purpose', 'description', 'text']);

/** Parameters of IIIF and DICOMweb, whose standards prescribe 400 for a malformed value. */
const protocolParameters = new Set(['region', 'size', 'rotation', 'quality', 'frames']);

type Part = 'path' | 'query' | 'body';

interface Place {
  readonly part: Part;
  readonly name: string;
}

/** Returns every text parameter of an endpoint, except headers and files. */
function textsOf(endpoint: Endpoint): Place[] {
  const path = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']): Place => ({ part: 'path', name }));
  const hasQuerySession = endpoint.access === 'image-session' && !endpoint.path.includes(':sessionId');
  const session = hasQuerySession ? [{ part: 'query', name: 'session' } as const] : [];
  return [
    ...path,
    ...session,
    ...stringsIn(endpoint.query).map((name): Place => ({ part: 'query', name })),
    ...stringsIn(endpoint.body).map((name): Place => ({ part: 'body', name })),
  ];
}

function stringsIn(schema: z.ZodObject | undefined): string[] {
  if (schema === undefined) return [];
  const { properties = {} } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return Object.entries(properties)
    .filter(([, property]) => /"string"|"enum"|"const"/.test(JSON.stringify(property)))
    .map(([name]) => name);
}

function isList(endpoint: Endpoint, name: string): boolean {
  const field = endpoint.body?.shape[name] as z.ZodType | undefined;
  return field?.safeParse([]).success ?? false;
}

function withHostile(value: unknown, character: string): string {
  const text = typeof value === 'string' && value !== '' ? value : 'abcd';
  const middle = Math.ceil(text.length / 2);
  return text.slice(0, middle) + character + text.slice(middle);
}

/** Percent-encodes a text. `encodeURIComponent` throws for a lone surrogate, so its bytes are written here. */
function encoded(text: string): string {
  return [...text].map((each) => (each === '\ud800' ? '%ED%A0%80' : encodeURIComponent(each))).join('');
}

function expectedFor({ part, name }: Place, character: Hostile): readonly number[] {
  if (credentials.has(name)) return part === 'body' ? [200, 201, 400, 401, 403] : [401];
  if (part === 'body' && multiLine.has(name) && character === 'a tab') return [200, 201];
  if (part === 'path' && name === 'sessionId') return [401, 404]; // 401 for pixels, 404 for a session that should be ended
  return part === 'path' && !protocolParameters.has(name) ? [404] : [400, 404];
}

describe.each(databaseKinds)('hostile texts in API requests, on %s', (database) => {
  let server: TestServer;
  let session: string;
  beforeAll(async () => {
    server = await testServer({ database, isShared: true, config: { throttle: false } });
    const viewer = await server.fixtures.user();
    session = (await server.as(viewer).call(createImageSession)).body.session_id;
    await server.fixtures.admin(); // so that no other administrator is the last one
  }, 60_000);
  afterAll(() => server.close());

  const { caller, requestFor } = wellFormedRequests(() => server);

  async function ask(endpointName: string, by: Caller, place: Place, character: Hostile): Promise<Answer> {
    const endpoint = endpoints[endpointName] as Endpoint;
    const isPixels = endpoint.access === 'image-session';
    const request = isPixels
      ? { url: '', payload: undefined, query: { session }, headers: {} }
      : await requestFor(endpointName, by, false);
    const [path = '', ...search] = request.url.split('?');
    expect(search).toEqual([]);
    const params = isPixels
      ? endpoint.path
          .replace(':sessionId', session)
          .replace(':imageId', missingId)
          .replace(':dziLevel', '0')
          .replace(':tile', '0_0.jpeg')
      : path;
    const patterns = endpoint.path.split('/');
    const url = params
      .split('/')
      .map((piece, at) =>
        place.part === 'path' && patterns[at] === `:${place.name}`
          ? encoded(withHostile(piece, hostile[character]))
          : piece,
      )
      .join('/');
    const query: Record<string, unknown> = { ...request.query };
    if (place.part === 'query') query[place.name] = withHostile(query[place.name], hostile[character]);
    const text = Object.entries(query)
      .map(([name, value]) => `${name}=${encoded(String(value))}`)
      .join('&');
    const body: Record<string, unknown> | undefined =
      request.payload && !Buffer.isBuffer(request.payload) ? { ...request.payload } : undefined;
    const payload = place.part === 'body' ? { ...body } : (body ?? request.payload);
    if (place.part === 'body') {
      const value = (payload as Record<string, unknown>)[place.name];
      const bad = withHostile(Array.isArray(value) ? value[0] : value, hostile[character]);
      (payload as Record<string, unknown>)[place.name] =
        isList(endpoint, place.name) || Array.isArray(value) ? [bad] : bad;
    }
    return server.as(isPixels ? null : by.token).inject({
      method: endpoint.method,
      url: text === '' ? url : `${url}?${text}`,
      ...(payload && { payload }),
      ...(request.headers && { headers: request.headers }),
    });
  }

  const cases = Object.entries(endpoints).flatMap(([name, endpoint]) =>
    textsOf(endpoint).map((place) => ({ name, place, part: place.part, text: place.name })),
  );

  it('cover every endpoint that has a path parameter, a query or a body', () => {
    const found = new Set(cases.map(({ name }) => name));
    const withTexts = Object.entries(endpoints).filter(([, { path, body }]) => path.includes(':') || body);
    // These endpoints have no text parameter: only numbers and switches, or no parameter.
    for (const [name] of withTexts) expect([...found]).toContain(name);
    expect(cases.length).toBeGreaterThan(70);
  });

  it.each(cases)('$name rejects hostile characters in the $part parameter $text', async ({ name, place }) => {
    const by = await caller('admin');
    for (const character of Object.keys(hostile) as Hostile[]) {
      const answer = await ask(name, by, place, character);
      expect(expectedFor(place, character), `${character}: ${JSON.stringify(answer.body)}`).toContain(
        answer.status,
      );
      // Some requests end the sign-in or delete the account, so the next request needs a new caller.
      if (answer.status < 300) Object.assign(by, await caller('admin'));
    }
  });

  it.each(Object.keys(hostile) as Hostile[])(
    'createUploadFile rejects %s in Upload-Metadata',
    async (character) => {
      const by = await caller('admin');
      const request = await requestFor('createUploadFile', by, false);
      const metadata = String(request.headers?.['upload-metadata']).split(',');
      for (const [at, pair] of metadata.entries()) {
        const [key = '', value = ''] = pair.split(' ');
        const bad = withHostile(Buffer.from(value, 'base64').toString(), hostile[character]);
        const changed = metadata.with(at, `${key} ${Buffer.from(bad).toString('base64')}`).join(',');
        const { status, body } = await server.as(by.token).inject({
          method: 'POST',
          url: request.url,
          headers: { ...request.headers, 'upload-metadata': changed },
        });
        expect([400, 404], `${key}: ${JSON.stringify(body)}`).toContain(status);
      }
    },
  );

  it.each(Object.keys(hostile) as Hostile[])('a cursor with %s inside is rejected', async (character) => {
    const admin = await server.fixtures.admin();
    for (const name of ['listAudit', 'listImages', 'listManagedImages']) {
      for (const inside of [`ab.${missingId}`, '2026-05-01T09:00:00.000Z 7']) {
        const cursor = Buffer.from(withHostile(inside, hostile[character])).toString('base64url');
        const endpoint = endpoints[name] as Endpoint;
        const { status } = await server.as(admin).call(endpoint, { query: { cursor, limit: '5' } });
        expect(status, name).toBe(400);
      }
    }
  });

  it('a name is stored in NFC and without white space at its ends', async () => {
    const admin = await server.fixtures.admin();
    const { id } = await server.fixtures.image();
    const body = { organ_type: '  Bo\u0308brek ' };
    const answer = await server.as(admin).call(updateImage, { params: { imageId: id }, body });
    expect(answer.body.image?.organ_type).toBe('Böbrek');
  });

  it('an account id with %00 gets 404 and writes no audit event', async () => {
    const admin = await server.fixtures.admin();
    const { status, body } = await server.as(admin).inject({ method: 'GET', url: '/admin/users/%00' });
    expect([status, (body as { code: string }).code]).toEqual([404, 'not_found']);
    const { body: audit } = await server.as(admin).call(listAudit, { query: { result: 'failed' } });
    // Other tests of this file use catalogue entries without a file.
    expect(audit.entries.filter(({ action }) => action !== 'image-missing')).toEqual([]);
  });
});
