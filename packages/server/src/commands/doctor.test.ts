import { execFile } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createObjectStore } from '@lamina/slide';
import { makeBucket, withoutObjectStore } from '@lamina/slide/testing';
import { SMTPServer } from 'smtp-server';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkAddresses, checkPorts, checkSecrets } from '../doctor/check-addresses.ts';
import { checkDatabase } from '../doctor/check-database.ts';
import { checkDataFolder, checkSlidesFolder } from '../doctor/check-folders.ts';
import { checkMail } from '../doctor/check-mail.ts';
import { checkObjectStorage } from '../doctor/check-object-storage.ts';
import { reasonOf } from '../doctor/finding.ts';
import { openDatabase } from '../store/database.ts';
import { everyDatabaseKind, openTestDatabase } from '../store/testing/test-database.ts';

const doctorProgram = path.join(import.meta.dirname, 'doctor.ts');
const isRoot = process.getuid?.() === 0;

function newFolder(): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-doctor-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Runs the command as a child process with new empty folders; returns its exit code and output. */
function runDoctor(settings: Readonly<Record<string, string>>): Promise<{ code: number; text: string }> {
  return new Promise((resolve) => {
    const env = { PORT: '0', DATA_DIR: newFolder(), SLIDES_DIR: newFolder(), ...settings };
    execFile(process.execPath, [doctorProgram], { env }, (error, out, err) =>
      resolve({ code: error === null ? 0 : Number(error.code), text: out + err }),
    );
  });
}

describe('npm run doctor', () => {
  it('reports no problem for a fresh installation', async () => {
    const { code, text } = await runDoctor({});
    expect(text).toContain('Nothing is wrong.');
    expect(code).toBe(0);
  });

  it('prints findings and advice without secrets, and exits with 1 when it finds a problem', async () => {
    const secrets = ['hush-database', 'hush-mail', 'hush-key-of-the-store', 'hush-password-1'];
    const { code, text } = await runDoctor({
      DATABASE_URL: `postgres://lamina:${secrets[0]}@127.0.0.1:1/lamina`,
      SMTP_URL: `smtp://lamina:${secrets[1]}@127.0.0.1:1`,
      S3_ENDPOINT: 'http://127.0.0.1:1',
      S3_BUCKET: 'slides',
      S3_ACCESS_KEY_ID: 'reader',
      S3_SECRET_ACCESS_KEY: secrets[2] ?? '',
      ADMIN_EMAIL: 'admin@example.org',
      ADMIN_PASSWORD: secrets[3] ?? '',
      PUBLIC_URL: 'http://slides.example.org',
    });
    expect(code).toBe(1);
    expect(text).toMatch(/WRONG {2}Database .*127\.0\.0\.1:1\/lamina, cannot be opened/);
    expect(text).toMatch(/WRONG {2}Bucket .*cannot be used/);
    expect(text).toMatch(/WRONG {2}Mail .*does not accept e-mails/);
    expect(text).toMatch(/WRONG {2}PUBLIC_URL .*not encrypted/);
    expect(text).toMatch(/WRONG {2}SECRET_KEY/);
    for (const secret of secrets) expect(text).not.toContain(secret);
  });

  it('exits with 1 and explains a setting with an invalid value', async () => {
    const { code, text } = await runDoctor({ WORKERS: 'many' });
    expect(code).toBe(1);
    expect(text).toContain('WORKERS must be a whole number from 1 to 64, not "many".');
  });
});

describe('npm run doctor: check of the database (checkDatabase)', () => {
  const createEmbeddedDatabase = async () => {
    const dataDir = newFolder();
    const file = path.join(dataDir, 'lamina.db');
    await (await openDatabase({ url: null, file })).destroy();
    return { dataDir, file, config: { databaseUrl: null, dataDir } };
  };

  it('reports an intact SQLite database as ok', async () => {
    const { config } = await createEmbeddedDatabase();
    expect(await checkDatabase(config)).toMatchObject([
      { state: 'ok', message: expect.stringMatching(/SQLite.*the file is intact/) as string },
      { subject: 'Catalogue', state: 'ok' },
    ]);
  });

  it('reports a missing SQLite database as ok and does not create it', async () => {
    const dataDir = newFolder();
    expect(await checkDatabase({ databaseUrl: null, dataDir })).toMatchObject([{ state: 'ok' }]);
    expect(fs.readdirSync(dataDir)).toEqual([]);
  });

  it('reports a file that is not a database as wrong', async () => {
    const { file, config } = await createEmbeddedDatabase();
    fs.rmSync(`${file}-wal`, { force: true });
    fs.writeFileSync(file, 'not a database '.repeat(1000));
    expect(await checkDatabase(config)).toMatchObject([
      { state: 'wrong', advice: expect.stringContaining('restore the last backup') as string },
    ]);
  });

  it('reports an SQLite database with damaged pages as wrong', async () => {
    const { file, config } = await createEmbeddedDatabase();
    const bytes = fs.readFileSync(file);
    // Damages every second page of 4,096 bytes, except the first 40, which contain the schema.
    for (let page = 40; page * 4096 < bytes.length; page += 2)
      bytes.fill(0xa5, page * 4096, page * 4096 + 512);
    fs.writeFileSync(file, bytes);
    const [finding] = await checkDatabase(config);
    expect(finding).toMatchObject({ subject: 'Database', state: 'wrong' });
  });

  it.skipIf(!everyDatabaseKind.includes('PostgreSQL'))(
    'reports version, clock, connections and catalogue of a PostgreSQL database as ok',
    async () => {
      const { url, close } = await openTestDatabase('PostgreSQL');
      onTestFinished(close);
      const findings = await checkDatabase({ databaseUrl: url, dataDir: newFolder() });
      expect(findings.map(({ subject, state }) => [subject, state])).toEqual([
        ['Database', 'ok'],
        ['Clock', 'ok'],
        ['Connections', 'ok'],
        ['Catalogue', 'ok'],
      ]);
    },
  );
});

describe('npm run doctor: checks of folders', () => {
  const configOf = (dataDir: string) => ({
    dataDir,
    databaseUrl: null,
    tileCacheBytes: 0,
    objectStore: null,
    objectCacheBytes: 0,
  });

  it('report a writable data folder and a readable slide folder as ok', async () => {
    const folder = path.join(newFolder(), 'data');
    const findings = await checkDataFolder(configOf(folder));
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
    fs.mkdirSync(path.join(folder, 'Liver'));
    expect(await checkSlidesFolder({ slidesDir: folder, objectStore: null })).toMatchObject({
      state: 'ok',
      message: expect.stringContaining('1 folders') as string,
    });
  });

  it('report a missing slide folder as a note', async () => {
    const slidesDir = path.join(newFolder(), 'none');
    expect(await checkSlidesFolder({ slidesDir, objectStore: null })).toMatchObject({ state: 'note' });
  });

  it('report a data folder or slide folder that is a file as wrong', async () => {
    const file = path.join(newFolder(), 'file');
    fs.writeFileSync(file, '');
    expect(await checkSlidesFolder({ slidesDir: file, objectStore: null })).toMatchObject({ state: 'wrong' });
    expect(await checkDataFolder(configOf(file))).toMatchObject([{ state: 'wrong' }]);
  });

  it.skipIf(isRoot || process.platform === 'win32')(
    'report a data folder without write access as wrong',
    async () => {
      const folder = newFolder();
      fs.chmodSync(folder, 0o500);
      expect(await checkDataFolder(configOf(folder))).toMatchObject([{ state: 'wrong' }]);
    },
  );

  it.skipIf(!fs.existsSync('/dev/shm'))(
    'report a data folder on a file system in memory (tmpfs) as wrong',
    async () => {
      const folder = fs.mkdtempSync('/dev/shm/lamina-doctor-');
      onTestFinished(() => fs.rmSync(folder, { recursive: true }));
      const findings = await checkDataFolder(configOf(folder));
      expect(findings[0]).toMatchObject({
        state: 'wrong',
        message: expect.stringContaining('in memory') as string,
      });
    },
  );

  it('report a disk that is smaller than the sum of the cache limits as a note', async () => {
    const findings = await checkDataFolder({
      ...configOf(newFolder()),
      tileCacheBytes: Number.MAX_SAFE_INTEGER,
    });
    expect(findings.find(({ subject }) => subject === 'Disk')).toMatchObject({ state: 'note' });
  });
});

describe('npm run doctor: check of addresses and proxies (checkAddresses)', () => {
  const loopback = {
    publicUrl: null,
    host: '127.0.0.1',
    port: 3000,
    trustedProxies: [],
    imageSessionCookie: 'off',
  } as const;
  const behindProxy = { ...loopback, publicUrl: 'https://slides.example.org', trustedProxies: ['127.0.0.1'] };

  it.each<[string, Partial<Parameters<typeof checkAddresses>[0]>]>([
    ['a server that is reachable only from its own machine', loopback],
    ['a server behind a proxy with https', behindProxy],
    [
      'trusted networks of proxies',
      { ...behindProxy, trustedProxies: ['10.0.0.0/24', 'fd00::/8', 'loopback'] },
    ],
  ])('reports the settings for %s as ok', (_, config) => {
    const findings = checkAddresses({ ...loopback, ...config });
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([]);
  });

  it.each<[string, Partial<Parameters<typeof checkAddresses>[0]>, string]>([
    ['a PUBLIC_URL without https', { publicUrl: 'http://slides.example.org' }, 'not encrypted'],
    [
      'the default loopback PUBLIC_URL of a server with HOST=0.0.0.0',
      { host: '0.0.0.0' },
      'e-mails and redirects contain',
    ],
    ['an https PUBLIC_URL without TRUSTED_PROXIES', { ...behindProxy, trustedProxies: [] }, 'none is named'],
    [
      'the network of all addresses (0.0.0.0/0) in TRUSTED_PROXIES',
      { ...behindProxy, trustedProxies: ['0.0.0.0/0'] },
      'Every client is trusted',
    ],
    [
      'a host name in TRUSTED_PROXIES',
      { ...behindProxy, trustedProxies: ['proxy.example.org'] },
      'neither an address',
    ],
    [
      'an invalid network mask (/33) in TRUSTED_PROXIES',
      { ...behindProxy, trustedProxies: ['10.0.0.0/33'] },
      'neither an address',
    ],
    ['IMAGE_SESSION_COOKIE=strict without https', { imageSessionCookie: 'strict' }, 'requires https'],
  ])('reports %s as wrong', (_, config, sentence) => {
    const problems = checkAddresses({ ...loopback, ...config }).filter(({ state }) => state === 'wrong');
    expect(problems.map(({ message }) => message).join(' ')).toContain(sentence);
    for (const { advice } of problems) expect(advice).not.toBeNull();
  });
});

describe('npm run doctor: check of the ports (checkPorts)', () => {
  it('reports a port on which another program listens as wrong, and a metrics port on a public address as a note', async () => {
    const otherProgram = net.createServer((socket) => void socket.end('no HTTP')).listen(0, '127.0.0.1');
    onTestFinished(() => void otherProgram.close());
    await once(otherProgram, 'listening');
    const { port } = otherProgram.address() as AddressInfo;
    const ports = { host: '127.0.0.1', port, metricsHost: '127.0.0.1', metricsPort: null };
    expect(await checkPorts(ports)).toMatchObject([{ state: 'wrong', advice: expect.any(String) as string }]);
    expect(
      await checkPorts({ ...ports, port: 0, metricsHost: '192.0.2.1', metricsPort: port }),
    ).toMatchObject([
      { state: 'ok' },
      { subject: 'Metrics port', state: 'wrong' },
      { subject: 'Metrics', state: 'note' },
    ]);
  });
});

describe('npm run doctor: check of the secrets (checkSecrets)', () => {
  const oneServer = { databaseUrl: null, secretKey: null, throttle: true };
  const sharedDatabase = { ...oneServer, databaseUrl: 'postgres://x/y' };
  it.each([
    ['a key file of a single server as ok', 'ok', oneServer],
    ['a shared database without SECRET_KEY as wrong', 'wrong', sharedDatabase],
    ['a shared database with SECRET_KEY as ok', 'ok', { ...sharedDatabase, secretKey: 'k'.repeat(32) }],
    [
      'a key file of a single server as ok, and THROTTLE=off as wrong',
      'ok and wrong',
      { ...oneServer, throttle: false },
    ],
  ])('reports %s', (_, states, config) => {
    const findings = checkSecrets(config);
    expect(findings.map(({ state }) => state).join(' and ')).toBe(states);
  });
});

describe('npm run doctor: reasonOf (reason of a failed check)', () => {
  it('returns the messages of an error and its causes, without the passwords in URLs', () => {
    const cause = new Error('connect to postgres://lamina:hush@db:5432/x failed');
    expect(reasonOf(new Error('It cannot be opened.', { cause }))).toBe(
      'It cannot be opened: connect to postgres://db:5432/x failed',
    );
  });
});

describe('npm run doctor: checks of mail and object storage', () => {
  it('report a note, not an error, when no mail server is configured', async () => {
    const config = { smtpUrl: null, mailFrom: 'x', dataDir: '/data', allowPlaintextMail: false };
    expect(await checkMail(config)).toMatchObject({ state: 'note' });
  });

  it('report a mail server that rejects the password as wrong, without repeating the password', async () => {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      onAuth: ({ password }, _, done) =>
        password === 'right' ? done(null, { user: 'lamina' }) : done(new Error('Invalid login')),
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    const { port } = server.server.address() as AddressInfo;
    const config = (password: string) => ({
      smtpUrl: `smtp://lamina:${password}@127.0.0.1:${port}`,
      mailFrom: 'Lamina <lamina@example.org>',
      allowPlaintextMail: false,
      dataDir: '/data',
    });
    expect(await checkMail(config('right'))).toMatchObject({ state: 'ok' });
    const finding = await checkMail(config('hush'));
    expect(finding).toMatchObject({
      state: 'wrong',
      message: expect.stringContaining('Invalid login') as string,
    });
    expect(JSON.stringify(finding)).not.toContain('hush');
  });

  it.skipIf(withoutObjectStore !== null)(
    'report an empty bucket as a note, a bucket with slides as ok, and a bucket with a wrong access key as wrong',
    async () => {
      const objectStore = await makeBucket('some/prefix/');
      const dataDir = newFolder();
      expect(await checkObjectStorage({ objectStore, dataDir })).toMatchObject([
        { state: 'note', message: expect.stringContaining('is empty') as string },
      ]);
      const file = path.join(newFolder(), 'object');
      fs.writeFileSync(file, 'something that can be read');
      await createObjectStore(objectStore).put('Liver/a.svs', file);
      expect(await checkObjectStorage({ objectStore, dataDir })).toMatchObject([
        { state: 'ok', message: expect.stringContaining('read by ranges') as string },
        { state: 'ok', message: expect.stringContaining('can be written') as string },
      ]);
      const withWrongKey = { ...objectStore, secretAccessKey: 'hush' };
      const findings = await checkObjectStorage({ objectStore: withWrongKey, dataDir });
      expect(findings).toMatchObject([{ state: 'wrong' }]);
      expect(JSON.stringify(findings)).not.toContain('hush');
    },
  );

  it('report an unreachable object store as wrong', async () => {
    const dataDir = newFolder();
    const objectStore = {
      endpoint: 'http://127.0.0.1:1',
      bucket: 'slides',
      prefix: '',
      region: 'x',
      accessKeyId: 'reader',
      secretAccessKey: 'hush',
    };
    const findings = await checkObjectStorage({ objectStore, dataDir });
    expect(findings).toMatchObject([{ subject: 'Bucket', state: 'wrong' }]);
    expect(JSON.stringify(findings)).not.toContain('hush');
    expect(await checkObjectStorage({ objectStore: null, dataDir })).toEqual([]);
  });
});
