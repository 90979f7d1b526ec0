/**
 * The whole server for a test, without a port: real services with an empty database, own folders, and a clock that advances only
 * when the test says so. Without `isShared`, the server is closed at the end of the test that started it.
 *
 * The file is long because the helpers of a test share its server, its clock and its folders.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import {
  ApiTokenScope,
  apiBase,
  apiTokenPrefix,
  type BodyInputOf,
  type Endpoint,
  type ParamsOf,
  type ResponseOf,
  signIn,
  type User,
} from '@lamina/contract';
import type { FastifyInstance, InjectOptions } from 'fastify';
import pino from 'pino';
import { onTestFinished } from 'vitest';
import { buildApp } from '../app.ts';
import { type Config, readConfig } from '../platform/config.ts';
import { hashSecret, newSecret } from '../platform/secrets.ts';
import { createServices, type Services } from '../services.ts';
import { slideRoots } from '../slide-storage/slide-roots.ts';
import { insertLayer, type LayerRow, nextChangeNo } from '../store/annotation-layers.ts';
import { insertApiToken } from '../store/api-tokens.ts';
import { type ImageChanges, type ImageRow, insertImages, updateImage } from '../store/images.ts';
import { type DatabaseKind, openTestDatabase, type TestDatabase } from '../store/testing/test-database.ts';
import { insertUser } from '../store/users.ts';
import { createRenderedTiles } from '../tiles/rendered-tiles.ts';
import { cheapPasswords } from './cheap-passwords.ts';
import { injectRequest } from './inject.ts';
import { createTestRenderPool, makeServerFolder, sharedRenderPool } from './shared-render-pool.ts';

export interface TestUser extends User {
  readonly password: string;
}

/** Response of the server. `Body` is the type that the contract declares for a successful response. */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly body: Body;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
}

type Call<E extends Endpoint> = {
  readonly params?: ParamsOf<E>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: BodyInputOf<E> | Readonly<Record<string, unknown>>;
  readonly headers?: Readonly<Record<string, string>>;
};

interface Client {
  /** Sends a request to an endpoint of the contract. */
  call<E extends Endpoint>(endpoint: E, call?: Call<E>): Promise<Answer<ResponseOf<E>>>;
  /** Sends any request, also an invalid one; the URL is relative to the API base. */
  inject(request: InjectOptions & { readonly url: string }): Promise<Answer>;
}

export interface TestServer {
  readonly app: FastifyInstance;
  readonly services: Services;
  readonly config: Config;
  readonly clock: TestClock;
  /** Creates rows directly in the database, without requests to the API (except `token`). */
  readonly fixtures: {
    /** Creates an account; by default it is active and has the role `user`. */
    user(fields?: Partial<User> & { readonly password?: string }): Promise<TestUser>;
    admin(fields?: Partial<User>): Promise<TestUser>;
    /** Creates a catalogue entry with the status `ready`, without a slide file. */
    image(fields?: ImageChanges): Promise<ImageRow>;
    /** Creates an annotation layer; by default all members may read it, and only its owner may change it. */
    layer(fields: Partial<LayerRow> & { readonly owner_uid: string | null }): Promise<LayerRow>;
    /** Signs the account in by a request to the API. @returns the bearer token */
    token(user: TestUser): Promise<string>;
    /** Creates an API token of an account with any status and role; by default with all scopes and datasets, for 90 days. */
    apiToken(
      owner: Pick<User, 'uid'>,
      fields?: {
        readonly scopes?: readonly ApiTokenScope[];
        readonly datasets?: readonly string[] | null;
        readonly days?: number;
      },
    ): Promise<{ readonly id: string; readonly token: string }>;
  };
  /** Returns a client. @param who a bearer token; an account, which signs in at the first request; null for an anonymous client */
  as(who: TestUser | string | null): Client;
  /** Starts a second server with empty caches, but the same database and folders, like another process or a restart. */
  another(): Promise<Pick<TestServer, 'app' | 'as'>>;
  /** Returns all log lines so far; without the setting `logLevel`, those of the level debug and higher. */
  logged(): string;
  /** Waits until all queued e-mails have been sent, and returns their sources (RFC 5322), oldest first. */
  outbox(): Promise<string[]>;
  /** Closes the server. Without this call, it is closed at the end of the test, unless the option `isShared` is set. */
  close(): Promise<void>;
}

interface TestClock {
  now(): Date;
  advance(ms: number): void;
}

interface TestServerOptions {
  readonly config?: Partial<Config>;
  /** A kind: the server creates an empty database. Otherwise a database that the test has created. The server closes it in both cases. */
  readonly database?: DatabaseKind | Pick<TestDatabase, 'db' | 'close'>;
  /** The server is not closed at the end of the test, because several tests share it; they have to close it. */
  readonly isShared?: true;
  /** The server starts its own render workers, as in production, instead of using those that tests share. */
  readonly hasOwnRenderPool?: true;
  /** Time limit of a render job, for tests that keep render workers busy. The server then has its own render pool. */
  readonly renderTimeoutMs?: number;
}

const defaultPassword = 'bir-şifre-123';

export async function testServer({
  config: settings,
  database = 'SQLite',
  isShared,
  hasOwnRenderPool,
  renderTimeoutMs,
}: TestServerOptions = {}): Promise<TestServer> {
  const folder = makeServerFolder();
  const config = {
    ...readConfig({ DEMO: 'off', DATA_DIR: 'data', SLIDES_DIR: 'slides' }, folder),
    ...settings,
  };
  fs.mkdirSync(config.slidesDir, { recursive: true });
  fs.mkdirSync(config.dataDir, { recursive: true });
  const { db, close: closeDatabase } =
    typeof database === 'string' ? await openTestDatabase(database) : database;
  const clock = createTestClock();
  const logLines: string[] = [];
  /** Defects of the product that the log reveals. They fail the test, even if all responses are as expected. */
  const faults: string[] = [];
  const write = (line: string) => {
    logLines.push(line);
    if (line.includes('not declared by its endpoint'))
      faults.push(`Declare the error code in packages/contract: ${line}`);
    if (/"msg":"[^"]*[çğışöüÇĞİŞÖÜ]/.test(line)) faults.push(`Log messages are in English: ${line}`);
  };
  const log = pino({ level: settings?.logLevel ?? 'debug' }, { write });
  const rejectFaults = () => {
    const [fault] = faults.splice(0); // removes all faults, so that the close of the server does not report them again
    if (fault !== undefined) throw new Error(fault);
  };
  const dependencies = { config, db, log, now: clock.now, passwordCost: cheapPasswords };
  // The render workers of the shared pool only read the folders of test servers, not a bucket or other slide folders.
  const usesTestPool =
    !hasOwnRenderPool &&
    config.objectStore === null &&
    Object.values(slideRoots(config)).every((root) => root.startsWith(folder + path.sep));
  const poolWithTimeout = renderTimeoutMs === undefined ? null : createTestRenderPool(renderTimeoutMs);
  /** Returns the option of createServices for a pool of the tests; false when createServices creates the render pool itself. */
  const renderedTilesOption = () =>
    usesTestPool && {
      renderedTiles: createRenderedTiles({
        config,
        log,
        objects: null,
        pool: poolWithTimeout ?? sharedRenderPool(),
      }),
    };
  const services = await createServices({ ...dependencies, ...renderedTilesOption() });
  const app = await buildApp(services);
  await app.ready();
  const defaultPasswordHash = await services.signIn.hashPassword(defaultPassword, null); // null: no client requests it

  const user: TestServer['fixtures']['user'] = async ({ password = defaultPassword, ...fields } = {}) => {
    const uid = randomUUID();
    const at = clock.now().toISOString();
    const status = fields.status ?? 'active';
    const isApproved = status !== 'pending';
    const created: User = {
      uid,
      email: `${uid}@example.org`,
      displayName: null,
      status,
      role: isApproved ? 'user' : 'unassigned',
      adminApproved: isApproved,
      createdAt: at,
      updatedAt: at,
      approvalDate: isApproved ? at : null,
      expiresAt: null,
      ...fields,
    };
    const passwordHash =
      password === defaultPassword ? defaultPasswordHash : await services.signIn.hashPassword(password, null);
    await db.transaction().execute(async (tx) => {
      await insertUser(tx, created);
      await services.signIn.signUp(tx, created.uid, passwordHash);
    });
    return { ...created, password };
  };

  const image: TestServer['fixtures']['image'] = async (fields) => {
    const id = randomUUID();
    const at = clock.now().toISOString();
    const file = {
      root: 'slides',
      path: `${id}.tif`,
      members: '[]', // the slide has no further files
      fingerprint: null,
      file_name: `${id}.tif`,
      size_bytes: 1,
    } as const;
    const entry = { id, ...file, dataset_name: null, organ_type: null };
    const stored = await db.transaction().execute(async (tx) => {
      await insertImages(tx, [entry], at);
      return updateImage(tx, id, { status: 'ready', width: 1, height: 1, ...fields }, at);
    });
    if (stored === null) throw new Error('the image could not be stored');
    return stored;
  };

  const layer: TestServer['fixtures']['layer'] = async (fields) => {
    const at = clock.now().toISOString();
    const imageId = fields.image_id ?? (await image({ width: 10_000, height: 8000 })).id;
    return db.transaction().execute(async (tx) =>
      insertLayer(tx, {
        id: randomUUID(),
        image_id: imageId,
        name: 'Tumor',
        visibility: 'members',
        editing: 'owner',
        locked_by: null,
        source: 'manual',
        created_at: at,
        updated_at: at,
        deleted_at: null,
        version: 1,
        change_no: await nextChangeNo(tx, imageId),
        annotation_count: 0,
        vertex_count: 0,
        next_position: 1,
        ...fields,
      }),
    );
  };

  async function token({ email, password }: TestUser): Promise<string> {
    const { status, body } = await as(null).call(signIn, { body: { email, password } });
    if (status !== 200) throw new Error(`${email} could not sign in: ${JSON.stringify(body)}`);
    return body.token;
  }

  const apiToken: TestServer['fixtures']['apiToken'] = async (
    { uid },
    { scopes = ApiTokenScope.options, datasets = null, days = 90 } = {},
  ) => {
    const created = { id: randomUUID(), token: apiTokenPrefix + newSecret() };
    const at = clock.now();
    await db.transaction().execute((tx) =>
      insertApiToken(tx, {
        id: created.id,
        hash: hashSecret(created.token),
        prefix: created.token.slice(0, 12), // shown in lists, to recognise the token
        uid,
        name: 'test',
        scopes,
        datasets,
        created_at: at.toISOString(),
        expires_at: new Date(at.getTime() + days * 24 * 60 * 60_000).toISOString(),
      }),
    );
    return created;
  };

  const as = clientsOf(app, token, rejectFaults);
  /** Functions that close the servers of `another`. */
  const closeOthers: (() => Promise<void>)[] = [];

  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= (async () => {
      for (const closeOther of closeOthers) await closeOther();
      await app.close();
      await services.close();
      await poolWithTimeout?.close();
      await closeDatabase();
      fs.rmSync(folder, { recursive: true, force: true });
      rejectFaults(); // faults of requests that a test has not sent with `as`
    })();
    return closed;
  };
  if (!isShared) onTestFinished(close);

  return {
    app,
    services,
    config,
    clock,
    fixtures: { user, admin: (fields) => user({ role: 'admin', ...fields }), image, layer, token, apiToken },
    as,
    async another() {
      const otherServices = await createServices({ ...dependencies, ...renderedTilesOption() });
      const anotherApp = await buildApp(otherServices);
      // Not `otherServices.close()`, because it would close the database, which both servers share.
      closeOthers.push(async () => {
        const { mail, catalogue, jobs, slides, imageSessions, background } = otherServices;
        await anotherApp.close();
        mail.close();
        for (const service of [catalogue, jobs, slides, imageSessions, background]) await service.close();
      });
      return { app: anotherApp, as: clientsOf(anotherApp, token, rejectFaults) };
    },
    logged: () => logLines.join(''),
    async outbox() {
      await services.jobs.idle('tell-who-waits'); // sends administrators a digest of waiting requests
      await services.background.idle();
      const outbox = path.join(config.dataDir, 'outbox');
      if (!fs.existsSync(outbox)) return [];
      return fs
        .readdirSync(outbox)
        .sort() // a file name begins with the time of sending
        .map((name) => fs.readFileSync(path.join(outbox, name), 'utf8'));
    },
    close,
  };
}

/**
 * Returns the function `as` of a server.
 *
 * @param signIn signs an account in and returns its token
 * @param rejectFaults called after each response; throws when a response had an error code that its endpoint does not declare, or when
 *   a log message was not in English
 */
function clientsOf(
  app: FastifyInstance,
  signIn: (user: TestUser) => Promise<string>,
  rejectFaults: () => void,
): TestServer['as'] {
  return (who) => {
    let bearer: Promise<string> | null = typeof who === 'string' ? Promise.resolve(who) : null;
    const inject: Client['inject'] = async ({ url, headers, ...request }) => {
      if (who !== null && typeof who !== 'string') bearer ??= signIn(who);
      const authorization = bearer === null ? {} : { authorization: `Bearer ${await bearer}` };
      const response = await injectRequest(app, {
        ...request,
        url: apiBase + url,
        headers: { ...authorization, ...headers },
      });
      rejectFaults();
      const { statusCode, headers: responseHeaders, payload } = response;
      const isJson = payload !== '' && String(responseHeaders['content-type']).startsWith('application/json');
      return { status: statusCode, headers: responseHeaders, body: isJson ? JSON.parse(payload) : payload };
    };
    return {
      inject,
      call<E extends Endpoint>(endpoint: E, { params, query, body, headers }: Call<E> = {}) {
        const valueByName: Readonly<Record<string, string>> = params ?? {};
        const url = endpoint.path.replace(/:(\w+)/g, (_, name: string) =>
          encodeURIComponent(valueByName[name] ?? ''),
        );
        return inject({
          method: endpoint.method,
          url,
          ...(query && { query: { ...query } }),
          ...(body && { payload: body }),
          ...(headers && { headers }),
        }) as Promise<Answer<ResponseOf<E>>>;
      },
    };
  };
}

function createTestClock(): TestClock {
  let at = Date.UTC(2026, 4, 1, 9); // 1 May 2026, 09:00 UTC
  return {
    now: () => new Date(at),
    advance(ms) {
      at += ms;
    },
  };
}
