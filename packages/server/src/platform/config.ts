/**
 * Reads and validates all settings once at start. Only this file reads the environment. The file is longer than 350
 * lines because each setting needs several lines.
 */
import os from 'node:os';
import path from 'node:path';
import { isControlFree, passwordLength, passwordMaxLength, passwordMinLength } from '@lamina/contract';
import { z } from 'zod';
import { isAddressEntry } from '../domain/address-list.ts';
import { isProviderAddress } from '../domain/provider-address.ts';

/** An invalid setting; the message is one sentence that names the setting and the expected values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Returns undefined for an empty value, because `NAME=` in an `.env` file means that the setting is not set. */
const emptyToUndefined = (value: unknown) =>
  typeof value === 'string' && value.trim() === '' ? undefined : value;
/** Schema of an optional string without control characters. */
const text = z.preprocess(
  emptyToUndefined,
  z.string().trim().refine(isControlFree, 'must not contain control characters').optional(),
);
/** Returns the schema of `on` and `off`. @param fallback value of a setting that is not set */
const onOff = (fallback: boolean) =>
  z.preprocess(
    emptyToUndefined,
    z
      .enum(['on', 'off'], 'must be on or off')
      .optional()
      .transform((value) => (value === undefined ? fallback : value === 'on')),
  );
/** Returns the schema of a whole number from `min` to `max`. @param fallback value of a setting that is not set */
const wholeNumber = (fallback: number, min: number, max: number) =>
  z.preprocess(
    emptyToUndefined,
    z
      .string()
      .optional()
      .transform((value) => (value === undefined ? fallback : Number(value)))
      .refine((value) => Number.isInteger(value) && value >= min && value <= max, {
        error: `must be a whole number from ${min} to ${max}`,
      }),
  );
/** Returns the schema of an optional URL. @param description describes a valid URL in the error message */
const optionalUrl = (protocols: readonly string[], description: string) =>
  text.refine(
    (value) => value === undefined || (URL.canParse(value) && protocols.includes(new URL(value).protocol)),
    { error: `must be ${description}` },
  );

const host = text
  .refine((value) => value === undefined || /^[\w.:%-]+$/.test(value), 'must be an address or a host name')
  .default('127.0.0.1');

/** Returns whether a string is an origin as browsers send it: scheme, host and port, without a path. */
const isOrigin = (value: string) =>
  /^https?:/.test(value) && URL.canParse(value) && new URL(value).origin === value;
/** Splits a list at commas and spaces. */
const splitList = (value: string | undefined) => value?.split(/[\s,]+/).filter(Boolean) ?? [];

const Environment = z.object({
  HOST: host,
  PORT: wholeNumber(3000, 0, 65_535),
  PUBLIC_URL: optionalUrl(['http:', 'https:'], 'an address that begins with http:// or https://'),
  DATA_DIR: text.default('./data'),
  SLIDES_DIR: text.default('./slides'),
  DEMO: onOff(true),
  ADMIN_EMAIL: text.refine((value) => value === undefined || z.email().safeParse(value).success, {
    error: 'must be an e-mail address',
  }),
  ADMIN_PASSWORD: z.preprocess(
    emptyToUndefined,
    z
      .string()
      .refine((value) => passwordLength(value) >= passwordMinLength, 'must have at least 8 characters')
      .refine((value) => passwordLength(value) <= passwordMaxLength, 'must have at most 128 characters')
      .optional(),
  ),
  PRODUCT_NAME: text.default('Lamina'),
  IMAGE_SESSION_TTL: wholeNumber(3600, 10, 86_400),
  DATABASE_URL: optionalUrl(
    ['postgres:', 'postgresql:'],
    'a PostgreSQL address that begins with postgres://',
  ),
  SMTP_URL: optionalUrl(['smtp:', 'smtps:'], 'a mail server address that begins with smtp:// or smtps://'),
  SMTP_ALLOW_PLAINTEXT: onOff(false),
  MAIL_FROM: text.refine((value) => value === undefined || /^([^<>]*<)?[^\s<>]+@[^\s<>]+>?$/.test(value), {
    error: 'must be an e-mail address, as in Lamina <no-reply@example.org>',
  }),
  TRUSTED_PROXIES: text.refine((value) => splitList(value).every(isAddressEntry), {
    error: 'must be IP addresses or networks such as 10.0.0.0/8, separated by commas',
  }),
  DICOMWEB_ORIGINS: text.refine((value) => splitList(value).every(isOrigin), {
    error: 'must be origins such as https://viewer.example.org, separated by commas',
  }),
  CONNECTIONS_PER_ADDRESS: wholeNumber(1000, 0, 1_000_000),
  REGISTRATION_HIDE_EXISTING: onOff(false),
  THROTTLE: onOff(true),
  SECRET_KEY: z.preprocess(
    emptyToUndefined,
    z.string().min(32, 'must have at least 32 characters').optional(),
  ),
  SIGN_IN: z.preprocess(
    emptyToUndefined,
    z.enum(['embedded', 'external', 'both'], 'must be embedded, external or both').optional(),
  ),
  OIDC_ISSUER: text.refine((value) => value === undefined || isProviderAddress(value), {
    error: 'must be an address that begins with https://, or with http:// on this machine',
  }),
  OIDC_CLIENT_ID: text,
  OIDC_AUDIENCE: text,
  OIDC_NAME: text,
  OIDC_LINK_BY_EMAIL: onOff(false),
  IMAGE_SESSION_COOKIE: z.preprocess(
    emptyToUndefined,
    z.enum(['off', 'strict'], 'must be off or strict').default('off'),
  ),
  TOKEN_SYNC_URL: text.refine((value) => value === undefined || URL.canParse(value, 'http://localhost'), {
    error: 'must be an address',
  }),
  CONTACT: text,
  PRIVACY_NOTICE: text,
  AUDIT_RETENTION_DAYS: wholeNumber(2190, 1, 36_500), // default: six years
  SAFETY_COPY_DAYS: wholeNumber(7, 1, 3650),
  WORKERS: wholeNumber(1, 1, 64),
  TILE_FAST_PATH: onOff(true),
  TILE_CACHE_BYTES: wholeNumber(2 * 1024 ** 3, 0, Number.MAX_SAFE_INTEGER),
  UPLOAD_QUOTA_BYTES: wholeNumber(1024 ** 4, 0, Number.MAX_SAFE_INTEGER),
  UPLOAD_MAX_BYTES: wholeNumber(256 * 1024 ** 3, 1, Number.MAX_SAFE_INTEGER),
  S3_ENDPOINT: optionalUrl(['http:', 'https:'], 'an address that begins with http:// or https://').refine(
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
  METRICS_HOST: host,
  METRICS_PORT: wholeNumber(0, 0, 65_535), // 0 disables the metrics
  DRAIN_SECONDS: wholeNumber(0, 0, 300),
  LOG_LEVEL: z.preprocess(
    emptyToUndefined,
    z
      .enum(['error', 'warn', 'info', 'debug', 'silent'], 'must be error, warn, info, debug or silent')
      .default('info'),
  ),
});

/** An OpenID Connect provider that people can sign in with. */
export interface ExternalProvider {
  /** Issuer exactly as in the provider's discovery document. */
  readonly issuer: string;
  readonly clientId: string;
  /** The `aud` of ID tokens for this server; usually the client id. */
  readonly audience: string;
  /** Name shown to people; null shows "your institution's account". */
  readonly name: string | null;
  /** Whether a sign-in with a verified e-mail address is linked to the existing account with this address. */
  readonly linkByEmail: boolean;
}

/** The sign-in services that are enabled; at least one. */
interface SignInServices {
  /** Sign-in with e-mail and password. */
  readonly embedded: boolean;
  readonly external: ExternalProvider | null;
}

/** A bucket with slides; the server reads only keys that begin with `prefix`. */
export interface ObjectStoreAccess {
  readonly endpoint: string;
  readonly bucket: string;
  /** Start of all keys: empty or with a final slash. */
  readonly prefix: string;
  readonly region: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface Config {
  readonly host: string;
  /** Port of the server; 0 selects any free port. */
  readonly port: number;
  /** Base of absolute URLs in e-mails and responses, without a final slash; null: derived from host and port, or from the request. */
  readonly publicUrl: string | null;
  /** Absolute path of the data folder: embedded database, caches, uploads, results, demonstration slides and outbox. */
  readonly dataDir: string;
  /** Absolute path of the slide folder, which the server only reads. */
  readonly slidesDir: string;
  /** Whether the server creates demonstration slides. */
  readonly demo: boolean;
  /** E-mail address and password of the first administrator, whom the first start creates; null: not set. */
  readonly adminEmail: string | null;
  readonly adminPassword: string | null;
  readonly productName: string;
  readonly imageSessionTtlSeconds: number; // lifetime of an image session, the credential of tile requests
  /** URL of PostgreSQL (postgres://…); null for the embedded database in `dataDir`. */
  readonly databaseUrl: string | null;
  /** URL of the mail server; null if e-mails are written to the outbox folder. */
  readonly smtpUrl: string | null;
  /** Whether `smtp://` may send without STARTTLS to another machine. */
  readonly allowPlaintextMail: boolean;
  readonly mailFrom: string;
  /** IP addresses or networks whose X-Forwarded-* headers the server trusts. */
  readonly trustedProxies: readonly string[];
  /** Origins of web apps that may read DICOMweb responses. */
  readonly dicomwebOrigins: ReadonlySet<string>;
  /** Maximum connections that one process accepts from one IPv4 address or IPv6 /64 network; 0 means no limit. */
  readonly connectionsPerAddress: number;
  /** Whether registration does not reveal that an e-mail address already has an account. */
  readonly registrationHideExisting: boolean;
  /** Whether repeated attempts are throttled. */
  readonly throttle: boolean;
  /** Key of encryption at rest; null if the server creates one in `dataDir`. */
  readonly secretKey: string | null;
  readonly signIn: SignInServices;
  /** `strict`: requests for pixels also need a cookie, so that a copied URL does not work on another machine. */
  readonly imageSessionCookie: 'off' | 'strict';
  /** URL that the web app calls when the bearer token changes or is deleted; null: none. */
  readonly tokenSyncUrl: string | null;
  /** E-mail address or telephone number on the account-status page. */
  readonly contact: string | null;
  /** Data-protection notice on the registration form, of one or several lines. */
  readonly privacyNotice: string | null;
  /** Maximum age of audit events in days; the server deletes older ones. */
  readonly auditRetentionDays: number;
  /** Days for which a copy of the database, created before an upgrade or a restore, stays in `dataDir`. */
  readonly safetyCopyDays: number;
  /** Number of processes that answer requests; with 1, a single process does everything. */
  readonly workers: number;
  /** Whether a handler in front of Fastify sends tiles (routes/tile-fast-path.ts); responses are the same without it. */
  readonly tileFastPath: boolean;
  /** Limit of the disk cache of rendered tiles in `dataDir`; 0 disables it. */
  readonly tileCacheBytes: number;
  /** Limit of all uploaded slides, complete and incomplete, and result layers in `dataDir`; 0 means no limit. */
  readonly uploadQuotaBytes: number;
  /** Limit of one upload: a slide of one file, a folder, or the file of a result layer. */
  readonly uploadMaxBytes: number;
  /** Object storage with slides; null if all slides are in folders. */
  readonly objectStore: ObjectStoreAccess | null;
  /** Limit of the disk cache of object parts in `dataDir`; 0 disables it. */
  readonly objectCacheBytes: number;
  /** Interval between scans of the bucket, which are needed because object storage sends no change events. */
  readonly objectRescanSeconds: number;
  readonly metricsHost: string;
  /** Port of the Prometheus endpoint; null if it is disabled. */
  readonly metricsPort: number | null;
  /** Time for which a stopping process still answers while it reports "not ready", so that a load balancer notices. */
  readonly drainSeconds: number;
  readonly logLevel: 'error' | 'warn' | 'info' | 'debug' | 'silent';
}

export const settingNames: readonly string[] = Object.keys(Environment.shape);

/** Returns the settings of this process. @throws ConfigError with one sentence that names the setting */
export function configOfProcess(): Config {
  return readConfig(process.env, process.cwd());
}

/** Returns the settings of this process that have a value, by name, unparsed. */
export function explicitSettings(): Readonly<Record<string, string>> {
  const settings = settingNames.map((name): [string, string] => [name, process.env[name] ?? '']);
  return Object.fromEntries(settings.filter(([, value]) => value.trim() !== ''));
}

/**
 * Parses the settings.
 *
 * @param folder absolute path to which relative paths in settings refer
 * @throws ConfigError with one sentence that names the setting
 */
export function readConfig(env: NodeJS.ProcessEnv, folder: string): Config {
  const parsed = Environment.safeParse(env);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    const name = String(issue?.path[0]);
    // Values that may be secrets are not shown. JSON escapes control characters, which must not reach the terminal.
    const shownValue = /PASSWORD|URL|SECRET|ENDPOINT/.test(name)
      ? ''
      : `, not ${JSON.stringify(env[name] ?? '')}`;
    throw new ConfigError(`${name} ${issue?.message}${shownValue}.`);
  }
  const settings = parsed.data;
  if (settings.ADMIN_PASSWORD !== undefined && settings.ADMIN_EMAIL === undefined) {
    throw new ConfigError('ADMIN_PASSWORD requires ADMIN_EMAIL.');
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
    allowPlaintextMail: settings.SMTP_ALLOW_PLAINTEXT,
    mailFrom: settings.MAIL_FROM ?? `${settings.PRODUCT_NAME} <no-reply@${os.hostname()}>`,
    trustedProxies: splitList(settings.TRUSTED_PROXIES),
    dicomwebOrigins: new Set(splitList(settings.DICOMWEB_ORIGINS)),
    connectionsPerAddress: settings.CONNECTIONS_PER_ADDRESS,
    registrationHideExisting: settings.REGISTRATION_HIDE_EXISTING,
    throttle: settings.THROTTLE,
    secretKey: settings.SECRET_KEY ?? null,
    signIn: signInServicesOf(settings),
    imageSessionCookie: settings.IMAGE_SESSION_COOKIE,
    tokenSyncUrl: settings.TOKEN_SYNC_URL ?? null,
    contact: settings.CONTACT ?? null,
    privacyNotice: settings.PRIVACY_NOTICE?.replaceAll('\\n', '\n') ?? null,
    auditRetentionDays: settings.AUDIT_RETENTION_DAYS,
    safetyCopyDays: settings.SAFETY_COPY_DAYS,
    workers: settings.WORKERS,
    tileFastPath: settings.TILE_FAST_PATH,
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

/** Returns the enabled sign-in services. @throws ConfigError when SIGN_IN needs a provider whose settings are incomplete */
function signInServicesOf(settings: z.output<typeof Environment>): SignInServices {
  const { SIGN_IN, OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId } = settings;
  const selected = SIGN_IN ?? (issuer === undefined ? 'embedded' : 'both');
  if (selected === 'embedded') return { embedded: true, external: null };
  if (issuer === undefined) throw new ConfigError(`SIGN_IN=${selected} requires OIDC_ISSUER.`);
  if (clientId === undefined) throw new ConfigError('OIDC_ISSUER requires OIDC_CLIENT_ID.');
  const external = {
    issuer,
    clientId,
    audience: settings.OIDC_AUDIENCE ?? clientId,
    name: settings.OIDC_NAME ?? null,
    linkByEmail: settings.OIDC_LINK_BY_EMAIL,
  };
  return { embedded: selected === 'both', external };
}

/** Returns the access to the bucket; null if its settings are missing. @throws ConfigError when only some of them are set */
function objectStoreOf(settings: z.output<typeof Environment>): ObjectStoreAccess | null {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket, S3_PREFIX: prefix = '', S3_REGION: region } = settings;
  const { S3_ACCESS_KEY_ID: accessKeyId, S3_SECRET_ACCESS_KEY: secretAccessKey } = settings;
  const required = {
    S3_ENDPOINT: endpoint,
    S3_BUCKET: bucket,
    S3_ACCESS_KEY_ID: accessKeyId,
    S3_SECRET_ACCESS_KEY: secretAccessKey,
  };
  const firstSetName = Object.entries(required).find(([, value]) => value !== undefined)?.[0];
  if (firstSetName === undefined) return null;
  for (const [name, value] of Object.entries(required)) {
    if (value === undefined) throw new ConfigError(`${firstSetName} requires ${name}.`);
  }
  return {
    endpoint: endpoint as string,
    bucket: bucket as string,
    // Removes slashes at both ends, then adds a final slash unless the prefix is empty.
    prefix: prefix.replace(/^\/+|\/+$/g, '').replace(/.$/, '$&/'),
    region,
    accessKeyId: accessKeyId as string,
    secretAccessKey: secretAccessKey as string,
  };
}

/** Returns the URL of the server for a browser on this machine; a wildcard host becomes localhost. */
export function serverUrlOf(host: string, port: number): string {
  if (host === '0.0.0.0' || host === '::') return `http://localhost:${port}`;
  const isIpv6 = host.includes(':');
  return `http://${isIpv6 ? `[${host}]` : host}:${port}`;
}
