import { describe, expect, it } from 'vitest';
import { addressOf, readConfig } from './config.ts';

describe('the settings', () => {
  it('are complete when nothing is set', () => {
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

  it('take an empty value for none', () => {
    const empty = { HOST: '', PORT: '', DEMO: '', PUBLIC_URL: ' ', ADMIN_PASSWORD: '', LOG_LEVEL: '' };
    expect(readConfig(empty, '/srv')).toEqual(readConfig({}, '/srv'));
  });

  it('take what is set', () => {
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
    [{ ADMIN_PASSWORD: 'a-long-one' }, 'ADMIN_PASSWORD needs ADMIN_EMAIL beside it.'],
    [{ SIGN_IN: 'google' }, 'SIGN_IN must be embedded, external or both, not "google".'],
    [{ SIGN_IN: 'external' }, 'SIGN_IN=external needs OIDC_ISSUER beside it.'],
    [{ OIDC_ISSUER: 'https://id.example.org' }, 'OIDC_ISSUER needs OIDC_CLIENT_ID beside it.'],
    [{ OIDC_ISSUER: 'http://id.example.org', OIDC_CLIENT_ID: 'x' }, 'OIDC_ISSUER must be an address'],
    [{ OIDC_ISSUER: 'https://a:b@id.example.org', OIDC_CLIENT_ID: 'x' }, 'OIDC_ISSUER must be an address'],
    [{ S3_BUCKET: 'slides' }, 'S3_BUCKET needs S3_ENDPOINT beside it.'],
    [{ S3_ENDPOINT: 'https://s3.example.org' }, 'S3_ENDPOINT needs S3_BUCKET beside it.'],
    [{ S3_ENDPOINT: 's3://slides' }, 'S3_ENDPOINT must be an address that begins with http:// or https://.'],
    [{ LOG_LEVEL: 'loud' }, 'LOG_LEVEL must be error, warn, info, debug or silent, not "loud".'],
  ])('stop the start with one sentence: %o', (settings, sentence) => {
    expect(() => readConfig(settings, '/srv')).toThrow(sentence);
  });

  it('name an object store in full, or none', () => {
    const named = {
      S3_ENDPOINT: 'https://s3.example.org',
      S3_BUCKET: 'hospital',
      S3_ACCESS_KEY_ID: 'reader',
      S3_SECRET_ACCESS_KEY: 'kanarya',
    };
    const storeOf = (settings: Record<string, string>) => readConfig(settings, '/srv').objectStore;
    expect(storeOf({})).toBeNull();
    expect(storeOf(named)).toEqual({
      endpoint: 'https://s3.example.org',
      bucket: 'hospital',
      prefix: '',
      region: 'us-east-1',
      accessKeyId: 'reader',
      secretAccessKey: 'kanarya',
    });
    for (const prefix of ['slides/2026', '/slides/2026/']) {
      expect(storeOf({ ...named, S3_PREFIX: prefix })?.prefix).toBe('slides/2026/');
    }
  });

  it('open the ways to sign in that are asked for', () => {
    const waysOf = (settings: Record<string, string>) => readConfig(settings, '/srv').signIn;
    const oidc = { OIDC_ISSUER: 'https://id.example.org/realm', OIDC_CLIENT_ID: 'slides' };
    const external = {
      issuer: 'https://id.example.org/realm',
      clientId: 'slides',
      audience: 'slides',
      name: null,
      linkByEmail: false,
    };
    expect(waysOf({})).toEqual({ embedded: true, external: null });
    expect(waysOf(oidc)).toEqual({ embedded: true, external });
    expect(waysOf({ ...oidc, SIGN_IN: 'both' })).toEqual({ embedded: true, external });
    expect(waysOf({ ...oidc, SIGN_IN: 'external' })).toEqual({ embedded: false, external });
    expect(waysOf({ ...oidc, SIGN_IN: 'embedded' })).toEqual({ embedded: true, external: null });
    expect(
      waysOf({ ...oidc, OIDC_AUDIENCE: 'api://x', OIDC_NAME: 'Keycloak', OIDC_LINK_BY_EMAIL: 'on' }).external,
    ).toMatchObject({ audience: 'api://x', name: 'Keycloak', linkByEmail: true });
  });

  it.each([
    { ADMIN_EMAIL: 'a@b.org', ADMIN_PASSWORD: 'kanarya' },
    { DATABASE_URL: 'mysql://root:kanarya@db' },
    { SMTP_URL: 'http://root:kanarya@mail' },
    { S3_ENDPOINT: 'https://root:kanarya@s3' },
  ])('do not repeat what may be a secret: %o', (settings) => {
    expect(() => readConfig(settings, '/srv')).toThrow(/^(?!.*kanarya).* must .*\.$/);
  });
});

describe('the address of a server', () => {
  it.each([
    ['127.0.0.1', 'http://127.0.0.1:3000'],
    ['slides.local', 'http://slides.local:3000'],
    ['::1', 'http://[::1]:3000'],
    ['0.0.0.0', 'http://localhost:3000'],
    ['::', 'http://localhost:3000'],
  ])('that listens on %s can be opened', (host, address) => {
    expect(addressOf(host, 3000)).toBe(address);
  });
});
