/**
 * The whole server for a test, without a port: real services over an empty database, folders of its own,
 * a clock that stands still until it is told otherwise. Ends with the test that started it.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import {
  apiBase,
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
import { type Config, readConfig } from '../config.ts';
import { createServices, type Services } from '../services.ts';
import { type ImageChanges, type ImageRow, insertImages, updateImage } from '../store/images.ts';
import { type DatabaseKind, openTestDatabase, type TestDatabase } from '../store/testing/test-database.ts';
import { insertUser } from '../store/users.ts';
import { cheapPasswords } from './cheap-passwords.ts';

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

/** Somebody at a browser: signed in, or nobody. */
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
    /** Signs in now. */
    token(user: TestUser): Promise<string>;
  };
  /** By a token, or as an account that signs in at its first call and keeps that sign-in; null is nobody. */
  as(who: TestUser | string | null): Client;
  /** A second process over the same data, or the first one after a restart: what is in memory is its own. */
  another(): Promise<Pick<TestServer, 'as'>>;
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
}

const usualPassword = 'bir-şifre-123';

export async function testServer({
  config: settings,
  database = 'SQLite',
  isShared,
}: World = {}): Promise<TestServer> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-test-'));
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
  const log = pino({ level: settings?.logLevel ?? 'debug' }, { write: (line) => lines.push(line) });
  const ground = { config, db, log, now: clock.now, passwordCost: cheapPasswords };
  const services = await createServices(ground);
  const app = await buildApp(services);
  await app.ready();
  const usualPasswordHash = await services.signIn.hashPassword(usualPassword);

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
      password === usualPassword ? usualPasswordHash : await services.signIn.hashPassword(password);
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

  async function token({ email, password }: TestUser): Promise<string> {
    const { status, body } = await as(null).call(signIn, { body: { email, password } });
    if (status !== 200) throw new Error(`${email} could not sign in: ${JSON.stringify(body)}`);
    return body.token;
  }

  const as = clientsOf(app, token);
  const others: (() => Promise<void>)[] = [];

  let closed: Promise<void> | null = null;
  const close = () => {
    closed ??= (async () => {
      for (const closeOther of others) await closeOther();
      await app.close();
      await services.close();
      await closeDatabase();
      fs.rmSync(folder, { recursive: true });
    })();
    return closed;
  };
  if (!isShared) onTestFinished(close);

  return {
    app,
    services,
    config,
    clock,
    given: { user, admin: (is) => user({ role: 'admin', ...is }), image, token },
    as,
    async another() {
      const more = await createServices(ground);
      const anotherApp = await buildApp(more);
      others.push(async () => {
        await anotherApp.close();
        more.mail.close();
        for (const service of [more.catalogue, more.jobs, more.slides, more.imageSessions, more.background]) {
          await service.close();
        }
      });
      return { as: clientsOf(anotherApp, token) };
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

/** @param signIn a new token of an account */
function clientsOf(app: FastifyInstance, signIn: (user: TestUser) => Promise<string>): TestServer['as'] {
  return (who) => {
    let bearer: Promise<string> | null = typeof who === 'string' ? Promise.resolve(who) : null;
    const inject: Client['inject'] = async ({ url, headers, ...request }) => {
      if (who !== null && typeof who !== 'string') bearer ??= signIn(who);
      const authorization = bearer === null ? {} : { authorization: `Bearer ${await bearer}` };
      const answer = await app.inject({
        ...request,
        url: apiBase + url,
        headers: { ...authorization, ...headers },
      });
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
