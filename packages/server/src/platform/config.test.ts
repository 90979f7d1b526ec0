import { describe, expect, it } from 'vitest';
import { ConfigError, readConfig, serverUrlOf, settingNames } from './config.ts';

describe('readConfig (reads the server settings from environment variables)', () => {
  it('returns the defaults for an empty environment', () => {
    expect(readConfig({}, '/srv/lamina')).toMatchObject({
      host: '127.0.0.1',
      port: 3000,
      publicUrl: null,
      dataDir: '/srv/lamina/data',
      slidesDir: '/srv/lamina/slides',
      demo: true,
      adminEmail: null,
      productName: 'Lamina',
      imageSessionTtlSeconds: 3600,
      databaseUrl: null,
      smtpUrl: null,
      registrationHideExisting: false,
      imageSessionCookie: 'off',
      logLevel: 'info',
    });
  });

  it('returns the default of a setting whose value is empty', () => {
    const empty = { HOST: '', PORT: '', DEMO: '', PUBLIC_URL: ' ', ADMIN_PASSWORD: '', LOG_LEVEL: '' };
    expect(readConfig(empty, '/srv')).toEqual(readConfig({}, '/srv'));
  });

  it('returns the values that are set in the environment instead of the defaults', () => {
    const settings = {
      PUBLIC_URL: 'https://slides.example.org/',
      DATA_DIR: '/var/lib/lamina',
      DEMO: 'off',
      TRUSTED_PROXIES: '10.0.0.1, 10.0.1.0/24',
    };
    expect(readConfig(settings, '/srv')).toMatchObject({
      publicUrl: 'https://slides.example.org',
      dataDir: '/var/lib/lamina',
      demo: false,
      trustedProxies: ['10.0.0.1', '10.0.1.0/24'],
    });
  });

  it.each([
    [{ PORT: 'abc' }, 'PORT must be a whole number from 0 to 65535, not "abc".'],
    [{ PORT: '65536' }, 'PORT must be a whole number from 0 to 65535, not "65536".'],
    [{ DEMO: 'yes' }, 'DEMO must be on or off, not "yes".'],
    [{ IMAGE_SESSION_TTL: '1.5' }, 'IMAGE_SESSION_TTL must be a whole number from 10 to 86400, not "1.5".'],
    [{ ADMIN_EMAIL: 'admin' }, 'ADMIN_EMAIL must be an e-mail address, not "admin".'],
    [{ ADMIN_PASSWORD: 'a-long-one' }, 'ADMIN_PASSWORD requires ADMIN_EMAIL.'],
    [{ SIGN_IN: 'google' }, 'SIGN_IN must be embedded, external or both, not "google".'],
    [{ SIGN_IN: 'external' }, 'SIGN_IN=external requires OIDC_ISSUER.'],
    [{ OIDC_ISSUER: 'https://id.example.org' }, 'OIDC_ISSUER requires OIDC_CLIENT_ID.'],
    [{ OIDC_ISSUER: 'http://id.example.org', OIDC_CLIENT_ID: 'x' }, 'OIDC_ISSUER must be an address'],
    [{ OIDC_ISSUER: 'https://a:b@id.example.org', OIDC_CLIENT_ID: 'x' }, 'OIDC_ISSUER must be an address'],
    [{ S3_BUCKET: 'slides' }, 'S3_BUCKET requires S3_ENDPOINT.'],
    [{ S3_ENDPOINT: 'https://s3.example.org' }, 'S3_ENDPOINT requires S3_BUCKET.'],
    [{ S3_ENDPOINT: 's3://slides' }, 'S3_ENDPOINT must be an address that begins with http:// or https://.'],
    [
      { TRUSTED_PROXIES: 'everyone' },
      'TRUSTED_PROXIES must be IP addresses or networks such as 10.0.0.0/8, separated by commas, not "everyone".',
    ],
    [{ MAIL_FROM: 'Lamina' }, 'MAIL_FROM must be an e-mail address'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be error, warn, info, debug or silent, not "loud".'],
  ])('for the settings %j throws an error with the text: %s', (settings, sentence) => {
    expect(() => readConfig(settings, '/srv')).toThrow(sentence);
  });

  it.each(settingNames)('throws an error that names %s when its value is invalid', (name) => {
    const sentenceFor = (value: string) => {
      try {
        readConfig({ [name]: value }, '/srv');
        return null;
      } catch (error) {
        expect(error).toBeInstanceOf(ConfigError);
        return (error as Error).message;
      }
    };
    // The last value is invalid for every setting, the others for most.
    const sentences = ['everyone', '-1', '99999999999999999999', 'ftp://x', 'a\x1bb'].map(sentenceFor);
    expect(sentences.at(-1)).not.toBeNull();
    for (const sentence of sentences.filter((message) => message !== null)) {
      expect(sentence).toMatch(new RegExp(`^${name} .+\\.$`));
      expect(sentence).not.toContain('\x1b');
    }
  });

  it('returns the settings of the object store, with S3_PREFIX ending in one slash, when endpoint, bucket and keys are set', () => {
    const settings = {
      S3_ENDPOINT: 'https://s3.example.org',
      S3_BUCKET: 'hospital',
      S3_ACCESS_KEY_ID: 'reader',
      S3_SECRET_ACCESS_KEY: 'kanarya',
    };
    const storeOf = (env: Record<string, string>) => readConfig(env, '/srv').objectStore;
    expect(storeOf({})).toBeNull();
    expect(storeOf(settings)).toEqual({
      endpoint: 'https://s3.example.org',
      bucket: 'hospital',
      prefix: '',
      region: 'us-east-1',
      accessKeyId: 'reader',
      secretAccessKey: 'kanarya',
    });
    for (const prefix of ['slides/2026', '/slides/2026/']) {
      expect(storeOf({ ...settings, S3_PREFIX: prefix })?.prefix).toBe('slides/2026/');
    }
  });

  it('returns the sign-in services (embedded, OpenID Connect or both) that SIGN_IN and the OIDC settings select', () => {
    const servicesOf = (settings: Record<string, string>) => readConfig(settings, '/srv').signIn;
    const oidc = { OIDC_ISSUER: 'https://id.example.org/realm', OIDC_CLIENT_ID: 'slides' };
    const external = {
      issuer: 'https://id.example.org/realm',
      clientId: 'slides',
      audience: 'slides',
      name: null,
      linkByEmail: false,
    };
    expect(servicesOf({})).toEqual({ embedded: true, external: null });
    expect(servicesOf(oidc)).toEqual({ embedded: true, external });
    expect(servicesOf({ ...oidc, SIGN_IN: 'both' })).toEqual({ embedded: true, external });
    expect(servicesOf({ ...oidc, SIGN_IN: 'external' })).toEqual({ embedded: false, external });
    expect(servicesOf({ ...oidc, SIGN_IN: 'embedded' })).toEqual({ embedded: true, external: null });
    expect(
      servicesOf({ ...oidc, OIDC_AUDIENCE: 'api://x', OIDC_NAME: 'Keycloak', OIDC_LINK_BY_EMAIL: 'on' })
        .external,
    ).toMatchObject({ audience: 'api://x', name: 'Keycloak', linkByEmail: true });
  });

  it.each([
    { ADMIN_EMAIL: 'a@b.org', ADMIN_PASSWORD: 'kanarya' },
    { DATABASE_URL: 'mysql://root:kanarya@db' },
    { SMTP_URL: 'http://root:kanarya@mail' },
    { S3_ENDPOINT: 'https://root:kanarya@s3' },
  ])('throws an error that does not repeat the secret (kanarya) in an invalid setting: %j', (settings) => {
    expect(() => readConfig(settings, '/srv')).toThrow(/^(?!.*kanarya).* must .*\.$/);
  });
});

describe('serverUrlOf (URL of the server on its own machine)', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['slides.local', 'http://slides.local:3000'],
    ['::1', 'http://[::1]:3000'],
    ['0.0.0.0', 'http://localhost:3000'],
    ['::', 'http://localhost:3000'],
  ])('for HOST=%s and PORT=3000 returns %s', (host, address) => {
    expect(serverUrlOf(host, 3000)).toBe(address);
  });
});
