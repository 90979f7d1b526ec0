/**
 * The whole server for a test, without a port: real services over an empty database, folders of its own,
 * a clock that stands still until it is told otherwise. Ends with the test that started it.
 *
 * Longer than 350 lines because the helpers of a test share its server, its clock and its folders.
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
import { undeclaredErrorMessage } from '../http/error-reply.ts';
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
import { makeServerFolder, sharedRenderPool } from './shared-render-pool.ts';

/** An account, and what it signs in with. */
export interface TestUser extends User {
  readonly password: string;
}

/** `Body` is what the contract says of a good answer. */
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

/** A client: signed in or anonymous. */
interface Client {
  /** By the contract. */
  call<E extends Endpoint>(endpoint: E, call?: Call<E>): Promise<Answer<ResponseOf<E>>>;
  /** By hand; the address is relative to the API base. */
  inject(request: InjectOptions & { readonly url: string }): Promise<Answer>;
}

export interface TestServer {
  readonly app: FastifyInstance;
  readonly services: Services;
  readonly config: Config;
  readonly clock: TestClock;
  readonly given: {
    /** An account as it stands in the database; active, with the role `user`, when nothing else is said. */
    user(is?: Partial<User> & { readonly password?: string }): Promise<TestUser>;
    /** An active administrator. */
    admin(is?: Partial<User>): Promise<TestUser>;
    /** A catalogue entry that is ready, though no file is behind it. */
    image(is?: ImageChanges): Promise<ImageRow>;
    /** An annotation layer of an account: shared with members, changed by its owner alone, when nothing else is said. */
    layer(is: Partial<LayerRow> & { readonly owner_uid: string | null }): Promise<LayerRow>;
    /** Signs in now. */
    token(user: TestUser): Promise<string>;
    /** An API token of the account, whatever its status and role; all scopes and datasets when nothing else is said. */
    apiToken(
      owner: Pick<User, 'uid'>,
      is?: {
        readonly scopes?: readonly ApiTokenScope[];
        readonly datasets?: readonly string[] | null;
        readonly days?: number;
      },
    ): Promise<{ readonly id: string; readonly token: string }>;
  };
  /** @param who a token, an account that signs in at its first call and keeps that sign-in, or null: anonymous */
  as(who: TestUser | string | null): Client;
  /** A second process over the same data, or the first one after a restart: what is in memory is its own. */
  another(): Promise<Pick<TestServer, 'app' | 'as'>>;
  /** Everything that has been logged; down to debug, where the settings say nothing else. */
  logged(): string;
  /** What lies in the outbox, oldest first, when nothing is under way any more. */
  outbox(): Promise<string[]>;
  /** Is called at the end of the test anyway. */
  close(): Promise<void>;
}

interface TestClock {
  now(): Date;
  advance(ms: number): void;
}

interface World {
  /** Settings that differ from those of a fresh installation. */
  readonly config?: Partial<Config>;
  /** A kind of empty one, or one that the test has made; the server closes it in any case. */
  readonly database?: DatabaseKind | Pick<TestDatabase, 'db' | 'close'>;
  /** For a server that several tests share: they close it themselves. */
  readonly isShared?: true;
  /** For a test of the render processes themselves: processes of this server alone, as in the product. */
  readonly hasOwnRenderPool?: true;
  /** For a test that keeps render processes busy: time limit of a job in the pool that the tests of a file share. */
  readonly renderTimeoutMs?: number;
}

const usualPassword = 'bir-şifre-123';

export async function testServer({
  config: settings,
  database = 'SQLite',
  isShared,
  hasOwnRenderPool,
  renderTimeoutMs,
}: World = {}): Promise<TestServer> {
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
  const lines: string[] = [];
  const faults: string[] = [];
  const write = (line: string) => {
    lines.push(line);
    if (line.includes(undeclaredErrorMessage))
      faults.push(`Declare the error code in packages/contract: ${line}`);
    if (/"msg":"[^"]*[çğışöüÇĞİŞÖÜ]/.test(line)) faults.push(`Log messages are in English: ${line}`);
  };
  const log = pino({ level: settings?.logLevel ?? 'debug' }, { write });
  const rejectFaults = () => {
    const [fault] = faults.splice(0);
    if (fault !== undefined) throw new Error(fault);
  };
  const ground = { config, db, log, now: clock.now, passwordCost: cheapPasswords };
  const sharesPool =
    !hasOwnRenderPool &&
    config.objectStore === null &&
    Object.values(slideRoots(config)).every((root) => root.startsWith(folder + path.sep));
  const renderedTiles = () =>
    sharesPool && {
      renderedTiles: createRenderedTiles({
        config,
        log,
        objects: null,
        pool: sharedRenderPool(renderTimeoutMs),
      }),
    };
  const services = await createServices({ ...ground, ...renderedTiles() });
  const app = await buildApp(services);
  await app.ready();
  const usualPasswordHash = await services.signIn.hashPassword(usualPassword, null);

  const user: TestServer['given']['user'] = async ({ password = usualPassword, ...is } = {}) => {
    const uid = randomUUID();
    const at = clock.now().toISOString();
    const status = is.status ?? 'active';
    const isApproved = status !== 'pending';
    const made: User = {
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
      ...is,
    };
    const passwordHash =
      password === usualPassword ? usualPasswordHash : await services.signIn.hashPassword(password, null);
    await db.transaction().execute(async (tx) => {
      await insertUser(tx, made);
      await services.signIn.signUp(tx, made.uid, passwordHash);
    });
    return { ...made, password };
  };

  const image: TestServer['given']['image'] = async (is) => {
    const id = randomUUID();
    const at = clock.now().toISOString();
    const file = {
      root: 'slides',
      path: `${id}.tif`,
      members: '[]',
      fingerprint: null,
      file_name: `${id}.tif`,
      size_bytes: 1,
    } as const;
    const entry = { id, ...file, dataset_name: null, organ_type: null };
    const stored = await db.transaction().execute(async (tx) => {
      await insertImages(tx, [entry], at);
      return updateImage(tx, id, { status: 'ready', width: 1, height: 1, ...is }, at);
    });
    if (stored === null) throw new Error('the image could not be stored');
    return stored;
  };

  const layer: TestServer['given']['layer'] = async (is) => {
    const at = clock.now().toISOString();
    const imageId = is.image_id ?? (await image({ width: 10_000, height: 8000 })).id;
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
        ...is,
      }),
    );
  };

  async function token({ email, password }: TestUser): Promise<string> {
    const { status, body } = await as(null).call(signIn, { body: { email, password } });
    if (status !== 200) throw new Error(`${email} could not sign in: ${JSON.stringify(body)}`);
    return body.token;
  }

  const apiToken: TestServer['given']['apiToken'] = async (
    { uid },
    { scopes = ApiTokenScope.options, datasets = null, days = 90 } = {},
  ) => {
    const made = { id: randomUUID(), token: apiTokenPrefix + newSecret() };
    const at = clock.now();
    await db.transaction().execute((tx) =>
      insertApiToken(tx, {
        id: made.id,
        hash: hashSecret(made.token),
        prefix: made.token.slice(0, 12),
        uid,
        name: 'test',
        scopes,
        datasets,
        created_at: at.toISOString(),
        expires_at: new Date(at.getTime() + days * 24 * 60 * 60_000).toISOString(),
      }),
    );
    return made;
  };

  const as = clientsOf(app, token, rejectFaults);
  const others: (() => Promise<void>)[] = [];

  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= (async () => {
      for (const closeOther of others) await closeOther();
      await app.close();
      await services.close();
      await closeDatabase();
      fs.rmSync(folder, { recursive: true, force: true });
      rejectFaults(); // of responses that came another way than by `as`
    })();
    return closed;
  };
  if (!isShared) onTestFinished(close);

  return {
    app,
    services,
    config,
    clock,
    given: { user, admin: (is) => user({ role: 'admin', ...is }), image, layer, token, apiToken },
    as,
    async another() {
      const more = await createServices({ ...ground, ...renderedTiles() });
      const anotherApp = await buildApp(more);
      others.push(async () => {
        await anotherApp.close();
        more.mail.close();
        for (const service of [more.catalogue, more.jobs, more.slides, more.imageSessions, more.background]) {
          await service.close();
        }
      });
      return { app: anotherApp, as: clientsOf(anotherApp, token, rejectFaults) };
    },
    logged: () => lines.join(''),
    async outbox() {
      await services.jobs.idle('tell-who-waits');
      await services.background.idle();
      const outbox = path.join(config.dataDir, 'outbox');
      if (!fs.existsSync(outbox)) return [];
      return fs
        .readdirSync(outbox)
        .sort()
        .map((name) => fs.readFileSync(path.join(outbox, name), 'utf8'));
    },
    close,
  };
}

/**
 * @param signIn a new token of an account
 * @param rejectFaults throws when a response had an error code that its endpoint does not declare, or a log message
 *   was not in English
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
      const answer = await injectRequest(app, {
        ...request,
        url: apiBase + url,
        headers: { ...authorization, ...headers },
      });
      rejectFaults();
      const { statusCode, headers: answered, payload } = answer;
      const isJson = payload !== '' && String(answered['content-type']).startsWith('application/json');
      return { status: statusCode, headers: answered, body: isJson ? JSON.parse(payload) : payload };
    };
    return {
      inject,
      call<E extends Endpoint>(endpoint: E, { params, query, body, headers }: Call<E> = {}) {
        const named: Readonly<Record<string, string>> = params ?? {};
        const url = endpoint.path.replace(/:(\w+)/g, (_, name: string) =>
          encodeURIComponent(named[name] ?? ''),
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
  let at = Date.UTC(2026, 4, 1, 9);
  return {
    now: () => new Date(at),
    advance(ms) {
      at += ms;
    },
  };
}
