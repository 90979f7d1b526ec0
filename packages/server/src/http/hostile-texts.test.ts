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

const hostileCharacters = {
  NUL: '\0',
  ESC: '\x1b',
  'a tab': '\t',
  'RIGHT-TO-LEFT OVERRIDE': '\u202e',
  'a lone surrogate': '\ud800',
} as const;
type CharacterName = keyof typeof hostileCharacters;
const characterNames = Object.keys(hostileCharacters) as CharacterName[];

/** Fields with a credential. The server answers a wrong one with 401, whatever its characters, and ignores one that it does not need. */
const credentials = new Set(['password', 'current_password', 'token', 'session', 'session_id']);
/** Free text of several lines, which may contain tabs. */
const multiLine = new Set(['reason', 'purpose', 'description', 'text']);

/** Parameters of IIIF and DICOMweb, whose standards prescribe 400 for a malformed value. */
const protocolParameters = new Set(['region', 'size', 'rotation', 'quality', 'frames']);

interface TextParameter {
  readonly part: 'path' | 'query' | 'body';
  readonly name: string;
}

/** Returns every text parameter of an endpoint, except headers and files. */
function textParametersOf(endpoint: Endpoint): TextParameter[] {
  const pathNames = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const hasQuerySession = endpoint.access === 'image-session' && !endpoint.path.includes(':sessionId');
  const queryNames = [...(hasQuerySession ? ['session'] : []), ...textFieldsOf(endpoint.query)];
  return [
    ...pathNames.map((name) => ({ part: 'path', name }) as const),
    ...queryNames.map((name) => ({ part: 'query', name }) as const),
    ...textFieldsOf(endpoint.body).map((name) => ({ part: 'body', name }) as const),
  ];
}

/** Returns the names of the fields that accept text or a list of texts. */
function textFieldsOf(schema: z.ZodObject | undefined): string[] {
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

/** Inserts the character in the middle of a text. For a value that is not a text, or is empty, the text is `abcd`. */
function insertCharacter(value: unknown, character: CharacterName): string {
  const text = typeof value === 'string' && value !== '' ? value : 'abcd';
  const middle = Math.ceil(text.length / 2);
  return text.slice(0, middle) + hostileCharacters[character] + text.slice(middle);
}

/** Percent-encodes a text. `encodeURIComponent` throws for the lone surrogate U+D800, so this function contains its bytes. */
function percentEncode(text: string): string {
  return [...text].map((char) => (char === '\ud800' ? '%ED%A0%80' : encodeURIComponent(char))).join('');
}

/** Returns the HTTP statuses of which the response must have one. */
function allowedStatuses({ part, name }: TextParameter, character: CharacterName): readonly number[] {
  if (credentials.has(name)) return part === 'body' ? [200, 201, 400, 401, 403] : [401];
  if (part === 'body' && multiLine.has(name) && character === 'a tab') return [200, 201];
  if (part === 'path' && name === 'sessionId') return [401, 404]; // 401 for pixels, 404 for a session that should be ended
  return part === 'path' && !protocolParameters.has(name) ? [404] : [400, 404];
}

const statusList = new Intl.ListFormat('en-GB', { type: 'disjunction' });

/** Describes the allowed statuses for the name of a test. */
function statusesOf(parameter: TextParameter): string {
  const [usual, forTab] = (['NUL', 'a tab'] as const).map((name) =>
    statusList.format(allowedStatuses(parameter, name).map(String)),
  );
  return usual === forTab ? String(usual) : `${usual} (${forTab} for a tab)`;
}

describe.each(databaseKinds)(
  'API requests with a control or invisible character, such as NUL, tab or U+202E (database: %s)',
  (database) => {
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

    /** Sends a request that is well-formed except for the character in one parameter. */
    async function sendWith(
      character: CharacterName,
      { part, name: parameter }: TextParameter,
      endpointName: string,
      sender: Caller,
    ): Promise<Answer> {
      const endpoint = endpoints[endpointName] as Endpoint;
      const isPixels = endpoint.access === 'image-session';
      const request = isPixels
        ? { url: '', payload: undefined, query: { session }, headers: {} }
        : await requestFor(endpointName, sender, false);
      const [path = '', ...search] = request.url.split('?');
      expect(search).toEqual([]);
      const urlPath = isPixels
        ? endpoint.path
            .replace(':sessionId', session)
            .replace(':imageId', missingId)
            .replace(':dziLevel', '0')
            .replace(':tile', '0_0.jpeg')
        : path;
      const patterns = endpoint.path.split('/');
      const url = urlPath
        .split('/')
        .map((segment, index) =>
          part === 'path' && patterns[index] === `:${parameter}`
            ? percentEncode(insertCharacter(segment, character))
            : segment,
        )
        .join('/');
      const query: Record<string, unknown> = { ...request.query };
      if (part === 'query') query[parameter] = insertCharacter(query[parameter], character);
      const queryText = Object.entries(query)
        .map(([name, value]) => `${name}=${percentEncode(String(value))}`)
        .join('&');
      const body: Record<string, unknown> | undefined =
        request.payload && !Buffer.isBuffer(request.payload) ? { ...request.payload } : undefined;
      const payload = part === 'body' ? { ...body } : (body ?? request.payload);
      if (part === 'body') {
        const value = (payload as Record<string, unknown>)[parameter];
        const text = insertCharacter(Array.isArray(value) ? value[0] : value, character);
        (payload as Record<string, unknown>)[parameter] =
          isList(endpoint, parameter) || Array.isArray(value) ? [text] : text;
      }
      return server.as(isPixels ? null : sender.token).inject({
        method: endpoint.method,
        url: queryText === '' ? url : `${url}?${queryText}`,
        ...(payload && { payload }),
        ...(request.headers && { headers: request.headers }),
      });
    }

    const cases = Object.entries(endpoints).flatMap(([name, endpoint]) =>
      textParametersOf(endpoint).map((parameter) => ({
        endpoint: name,
        statuses: statusesOf(parameter),
        ...parameter,
      })),
    );

    it('are tested in this file for every endpoint that has a path parameter or a JSON body', () => {
      const coveredNames = cases.map(({ endpoint }) => endpoint);
      const withTexts = Object.entries(endpoints).filter(([, { path, body }]) => path.includes(':') || body);
      for (const [name] of withTexts) expect(coveredNames).toContain(name);
      expect(cases.length).toBeGreaterThan(70);
    });

    it.each(cases)(
      'to the endpoint $endpoint get $statuses when the $part parameter $name contains such a character',
      async ({ endpoint, statuses: _, ...parameter }) => {
        const sender = await caller('admin');
        for (const character of characterNames) {
          const { status, body } = await sendWith(character, parameter, endpoint, sender);
          const allowed = allowedStatuses(parameter, character);
          expect(allowed, `${character}: ${JSON.stringify(body)}`).toContain(status);
          // Some requests end the sign-in or delete the account, so the next request needs a new caller.
          if (status < 300) Object.assign(sender, await caller('admin'));
        }
      },
    );

    it.each(characterNames)(
      'to the endpoint createUploadFile get 400 or 404 when the header Upload-Metadata contains %s',
      async (character) => {
        const sender = await caller('admin');
        const request = await requestFor('createUploadFile', sender, false);
        const metadata = String(request.headers?.['upload-metadata']).split(',');
        for (const [index, pair] of metadata.entries()) {
          const [key = '', value = ''] = pair.split(' ');
          const text = insertCharacter(Buffer.from(value, 'base64').toString(), character);
          const changed = metadata.with(index, `${key} ${Buffer.from(text).toString('base64')}`).join(',');
          const { status, body } = await server.as(sender.token).inject({
            method: 'POST',
            url: request.url,
            headers: { ...request.headers, 'upload-metadata': changed },
          });
          expect([400, 404], `${key}: ${JSON.stringify(body)}`).toContain(status);
        }
      },
    );

    it.each(characterNames)(
      'to list endpoints get 400 when the decoded query parameter cursor contains %s',
      async (character) => {
        const admin = await server.fixtures.admin();
        for (const name of ['listAudit', 'listImages', 'listManagedImages']) {
          for (const position of [`ab.${missingId}`, '2026-05-01T09:00:00.000Z 7']) {
            const cursor = Buffer.from(insertCharacter(position, character)).toString('base64url');
            const endpoint = endpoints[name] as Endpoint;
            const { status } = await server.as(admin).call(endpoint, { query: { cursor, limit: '5' } });
            expect(status, name).toBe(400);
          }
        }
      },
    );

    it('without such a character: updateImage stores an organ with a decomposed letter (o + U+0308) in Unicode form NFC', async () => {
      const admin = await server.fixtures.admin();
      const { id } = await server.fixtures.image();
      const body = { organ_type: '  Bo\u0308brek ' };
      const answer = await server.as(admin).call(updateImage, { params: { imageId: id }, body });
      expect(answer.body.image?.organ_type).toBe('Böbrek');
    });

    it('for the path /admin/users/%00 get 404, and write no audit event of a failure', async () => {
      const admin = await server.fixtures.admin();
      const { status, body } = await server.as(admin).inject({ method: 'GET', url: '/admin/users/%00' });
      expect([status, (body as { code: string }).code]).toEqual([404, 'not_found']);
      const { body: audit } = await server.as(admin).call(listAudit, { query: { result: 'failed' } });
      // Other tests of this file use catalogue entries without a file.
      expect(audit.entries.filter(({ action }) => action !== 'image-missing')).toEqual([]);
    });

    it('with a path parameter of 2049 characters get 404, and write no line of the level error', async () => {
      const errorsBefore = server.logged().split('"level":50').length;
      const paths = Object.values(endpoints).filter(({ path }) => path.includes(':'));
      for (const { method, path } of paths) {
        const url = path.replaceAll(/:\w+/g, 'x'.repeat(2049)).slice(0, 3000);
        const { status, body } = await server.as(null).inject({ method, url });
        expect([method, path, status, (body as { code: string }).code]).toEqual([
          method,
          path,
          404,
          'not_found',
        ]);
      }
      expect(server.logged().split('"level":50').length).toBe(errorsBefore);
    });
  },
);
