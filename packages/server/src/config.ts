/** The only file that reads the environment: every setting, checked once at the start. */
import os from 'node:os';
import path from 'node:path';
import { passwordLength, passwordMaxLength, passwordMinLength } from '@lamina/contract';
import { z } from 'zod';
import { isProviderAddress } from './domain/provider-address.ts';

/** A setting with a wrong value; the message is one sentence that names it and says what is expected. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** An empty value is the same as none, as in an `.env` file. */
const unset = (value: unknown) => (typeof value === 'string' && value.trim() === '' ? undefined : value);
const text = z.preprocess(unset, z.string().trim().optional());
const switchOf = (fallback: boolean) =>
  z.preprocess(
    unset,
    z
      .enum(['on', 'off'], 'must be on or off')
      .optional()
      .transform((value) => (value === undefined ? fallback : value === 'on')),
  );
const wholeNumber = (fallback: number, min: number, max: number) =>
  z.preprocess(
    unset,
    z
      .string()
      .optional()
      .transform((value) => (value === undefined ? fallback : Number(value)))
      .refine((value) => Number.isInteger(value) && value >= min && value <= max, {
        error: `must be a whole number from ${min} to ${max}`,
      }),
  );
const address = (protocols: readonly string[], what: string) =>
  text.refine(
    (value) => value === undefined || (URL.canParse(value) && protocols.includes(new URL(value).protocol)),
    { error: `must be ${what}` },
  );

const Environment = z.object({
  HOST: text.default('127.0.0.1'),
  PORT: wholeNumber(3000, 0, 65_535),
  PUBLIC_URL: address(['http:', 'https:'], 'an address that begins with http:// or https://'),
  DATA_DIR: text.default('./data'),
  SLIDES_DIR: text.default('./slides'),
  DEMO: switchOf(true),
  ADMIN_EMAIL: text.refine((value) => value === undefined || z.email().safeParse(value).success, {
    error: 'must be an e-mail address',
  }),
  ADMIN_PASSWORD: z.preprocess(
    unset,
    z
      .string()
      .refine((value) => passwordLength(value) >= passwordMinLength, 'must have at least 8 characters')
      .refine((value) => passwordLength(value) <= passwordMaxLength, 'must have at most 128 characters')
      .optional(),
  ),
  PRODUCT_NAME: text.default('Lamina'),
  IMAGE_SESSION_TTL: wholeNumber(3600, 10, 86_400),
  DATABASE_URL: address(['postgres:', 'postgresql:'], 'a PostgreSQL address that begins with postgres://'),
  SMTP_URL: address(['smtp:', 'smtps:'], 'a mail server address that begins with smtp:// or smtps://'),
  MAIL_FROM: text,
  TRUSTED_PROXIES: text,
  REGISTRATION_HIDE_EXISTING: switchOf(false),
  THROTTLE: switchOf(true),
  SECRET_KEY: z.preprocess(unset, z.string().min(32, 'must have at least 32 characters').optional()),
  SIGN_IN: z.preprocess(
    unset,
    z.enum(['embedded', 'external', 'both'], 'must be embedded, external or both').optional(),
  ),
  OIDC_ISSUER: text.refine((value) => value === undefined || isProviderAddress(value), {
    error: 'must be an address that begins with https://, or with http:// on this very machine',
  }),
  OIDC_CLIENT_ID: text,
  OIDC_AUDIENCE: text,
  OIDC_NAME: text,
  OIDC_LINK_BY_EMAIL: switchOf(false),
  IMAGE_SESSION_COOKIE: z.preprocess(
    unset,
    z.enum(['off', 'strict'], 'must be off or strict').default('off'),
  ),
  TOKEN_SYNC_URL: text,
  AUDIT_RETENTION_DAYS: wholeNumber(2190, 1, 36_500),
  WORKERS: wholeNumber(1, 1, 64),
  TILE_CACHE_BYTES: wholeNumber(2 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
  UPLOAD_QUOTA_BYTES: wholeNumber(1024 ** 4, 0, Number.MAX_SAFE_INTEGER),
  UPLOAD_MAX_BYTES: wholeNumber(256 * 1024 ** 3, 1, Number.MAX_SAFE_INTEGER),
  S3_ENDPOINT: address(['http:', 'https:'], 'an address that begins with http:// or https://').refine(
    (value) => value === undefined || !URL.canParse(value) || new URL(value).username === '',
    { error: 'must be an address without a name in it' },
  ),
  S3_BUCKET: text,
  S3_PREFIX: text,
  S3_REGION: text.default('us-east-1'),
  S3_ACCESS_KEY_ID: text,
  S3_SECRET_ACCESS_KEY: text,
  S3_CACHE_BYTES: wholeNumber(4 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
  S3_RESCAN_SECONDS: wholeNumber(60, 5, 86_400),
  METRICS_HOST: text.default('127.0.0.1'),
  METRICS_PORT: wholeNumber(0, 0, 65_535),
  DRAIN_SECONDS: wholeNumber(0, 0, 300),
  LOG_LEVEL: z.preprocess(
    unset,
    z
      .enum(['error', 'warn', 'info', 'debug', 'silent'], 'must be error, warn, info, debug or silent')
      .default('info'),
  ),
});

/** An OpenID Connect provider that people may sign in at. */
export interface ExternalProvider {
  /** Exactly as the provider calls itself. */
  readonly issuer: string;
  readonly clientId: string;
  /** What an ID token that is meant for us names; usually the client id. */
  readonly audience: string;
  /** What people call it; null: their institution's account. */
  readonly name: string | null;
  /** Whether somebody whose e-mail address the provider has verified takes up the account that has this address. */
  readonly linkByEmail: boolean;
}

/** How people sign in; at least one way is open. */
interface SignInWays {
  /** With e-mail and password. */
  readonly embedded: boolean;
  readonly external: ExternalProvider | null;
}

/** A bucket in which slides lie; what lies elsewhere in it is nothing to us. */
export interface ObjectStoreAccess {
  readonly endpoint: string;
  readonly bucket: string;
  /** What all keys begin with: empty, or ending in a slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Config {
  readonly host: string;
  /** 0 takes any free port. */
  readonly port: number;
  /** Address in mails and redirects, without a final slash; null: from host and port. */
  readonly publicUrl: string | null;
  /** Absolute. Embedded database, tile cache, demonstration slides, outbox. */
  readonly dataDir: string;
  /** Absolute, read-only to us. */
  readonly slidesDir: string;
  readonly demo: boolean;
  readonly adminEmail: string | null;
  readonly adminPassword: string | null;
  readonly productName: string;
  readonly imageSessionTtlSeconds: number;
  /** postgres://…, or null for the embedded database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** Null: mails are written to the outbox folder. */
  readonly smtpUrl: string | null;
  readonly mailFrom: string;
  /** Addresses or networks whose X-Forwarded-* headers are believed. */
  readonly trustedProxies: readonly string[];
  readonly registrationHideExisting: boolean;
  /** Whether whoever tries too often has to wait. */
  readonly throttle: boolean;
  /** What seals secrets in the database; null: a key of its own in `dataDir`. */
  readonly secretKey: string | null;
  readonly signIn: SignInWays;
  readonly imageSessionCookie: 'off' | 'strict';
  readonly tokenSyncUrl: string | null;
  /** Entries of the audit trail that are older than this go. */
  readonly auditRetentionDays: number;
  /** Processes that answer requests; 1: the one that does everything else, too. */
  readonly workers: number;
  /** Disk that made tiles may take in `dataDir`; 0 keeps none there. */
  readonly tileCacheBytes: number;
  /** Disk that uploaded slides may take in `dataDir`, finished and unfinished ones; 0: as much as there is. */
  readonly uploadQuotaBytes: number;
  /** Of one upload: a slide of one file, or a folder. */
  readonly uploadMaxBytes: number;
  /** Null: slides lie in folders alone. */
  readonly objectStore: ObjectStoreAccess | null;
  /** Disk that parts of objects may take in `dataDir`; 0 keeps none there. */
  readonly objectCacheBytes: number;
  /** How often the bucket is listed, to see what is new there: a store tells nobody. */
  readonly objectRescanSeconds: number;
  readonly metricsHost: string;
  /** Where Prometheus is answered; null: nowhere. */
  readonly metricsPort: number | null;
  /** How long a process that is told to end goes on answering, not ready any more, so that a balancer notices. */
  readonly drainSeconds: number;
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug' | 'silent';
}

/** The settings of this process. @throws ConfigError with one clear sentence */
export function configOfProcess(): Config {
  return readConfig(process.env, process.cwd());
}

/** The settings of this process that have a value, by their names and as they were given. */
export function givenSettings(): Readonly<Record<string, string>> {
  const given = Object.keys(Environment.shape).map((name): [string, string] => [
    name,
    process.env[name] ?? '',
  ]);
  return Object.fromEntries(given.filter(([, value]) => value.trim() !== ''));
}

/**
 * @param folder relative folders start here
 * @throws ConfigError with one clear sentence
 */
export function readConfig(env: NodeJS.ProcessEnv, folder: string): Config {
  const read = Environment.safeParse(env);
  if (!read.success) {
    const issue = read.error.issues[0];
    const name = String(issue?.path[0]);
    const given = /PASSWORD|URL|SECRET|ENDPOINT/.test(name) ? '' : `, not "${env[name] ?? ''}"`; // those may carry secrets
    throw new ConfigError(`${name} ${issue?.message}${given}.`);
  }
  const settings = read.data;
  if (settings.ADMIN_PASSWORD !== undefined && settings.ADMIN_EMAIL === undefined) {
    throw new ConfigError('ADMIN_PASSWORD needs ADMIN_EMAIL beside it.');
  }
  return {
    host: settings.HOST,
    port: settings.PORT,
    publicUrl: settings.PUBLIC_URL?.replace(/\/+$/, '') ?? null,
    dataDir: path.resolve(folder, settings.DATA_DIR),
    slidesDir: path.resolve(folder, settings.SLIDES_DIR),
    demo: settings.DEMO,
    adminEmail: settings.ADMIN_EMAIL ?? null,
    adminPassword: settings.ADMIN_PASSWORD ?? null,
    productName: settings.PRODUCT_NAME,
    imageSessionTtlSeconds: settings.IMAGE_SESSION_TTL,
    databaseUrl: settings.DATABASE_URL ?? null,
    smtpUrl: settings.SMTP_URL ?? null,
    mailFrom: settings.MAIL_FROM ?? `${settings.PRODUCT_NAME} <no-reply@${os.hostname()}>`,
    trustedProxies: settings.TRUSTED_PROXIES?.split(/[\s,]+/).filter(Boolean) ?? [],
    registrationHideExisting: settings.REGISTRATION_HIDE_EXISTING,
    throttle: settings.THROTTLE,
    secretKey: settings.SECRET_KEY ?? null,
    signIn: signInWaysOf(settings),
    imageSessionCookie: settings.IMAGE_SESSION_COOKIE,
    tokenSyncUrl: settings.TOKEN_SYNC_URL ?? null,
    auditRetentionDays: settings.AUDIT_RETENTION_DAYS,
    workers: settings.WORKERS,
    tileCacheBytes: settings.TILE_CACHE_BYTES,
    uploadQuotaBytes: settings.UPLOAD_QUOTA_BYTES,
    uploadMaxBytes: settings.UPLOAD_MAX_BYTES,
    objectStore: objectStoreOf(settings),
    objectCacheBytes: settings.S3_CACHE_BYTES,
    objectRescanSeconds: settings.S3_RESCAN_SECONDS,
    metricsHost: settings.METRICS_HOST,
    metricsPort: settings.METRICS_PORT === 0 ? null : settings.METRICS_PORT,
    drainSeconds: settings.DRAIN_SECONDS,
    logLevel: settings.LOG_LEVEL,
  };
}

/** @throws ConfigError when the provider that people are to sign in at is not named in full */
function signInWaysOf(settings: z.output<typeof Environment>): SignInWays {
  const { SIGN_IN, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  const way = SIGN_IN ?? (issuer === undefined ? 'embedded' : 'both');
  if (way === 'embedded') return { embedded: true, external: null };
  if (issuer === undefined) throw new ConfigError(`SIGN_IN=${way} needs OIDC_ISSUER beside it.`);
  if (clientId === undefined) throw new ConfigError('OIDC_ISSUER needs OIDC_CLIENT_ID beside it.');
  const external = {
    issuer,
    clientId,
    audience: settings.OIDC_AUDIENCE ?? clientId,
    name: settings.OIDC_NAME ?? null,
    linkByEmail: settings.OIDC_LINK_BY_EMAIL,
  };
  return { embedded: way === 'both', external };
}

/** @throws ConfigError when it is named in part */
function objectStoreOf(settings: z.output<typeof Environment>): ObjectStoreAccess | null {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_PREFIX: prefix = '', S3_REGION: region } = settings;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const needed = {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const named = Object.entries(needed).filter(([, value]) => value !== undefined);
  if (named.length === 0) return null;
  for (const [name, value] of Object.entries(needed)) {
    if (value === undefined) throw new ConfigError(`${named[0]?.[0]} needs ${name} beside it.`);
  }
  return {
    endpoint: endpoint as string,
    bucket: bucket as string,
    prefix: prefix.replace(/^\/+|\/+$/g, '').replace(/.$/, '$&/'),
    region,
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
  };
}

/** Where a browser on this machine finds the server. A host that means "all of them" is named localhost. */
export function addressOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}
