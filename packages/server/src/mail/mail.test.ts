import { once } from 'node:events';
import fs from 'node:fs';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import pino from 'pino';
import postalMime from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createBackground } from '../platform/background-tasks.ts';
import { createEncryption } from '../platform/encryption.ts';
import { type Database, runLockedTransaction } from '../store/database.ts';
import { databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { createMail } from './mail.ts';

const email = {
  to: 'ayse@example.org',
  subject: 'Şifre sıfırlama',
  text: `Merhaba,\n\nhttp://127.0.0.1:3000/auth/password-reset#code=${'Ab_-9'.repeat(9)}\n`,
};
const minute = 60_000;
const day = 24 * 60 * minute;

interface Machine {
  readonly db: Database;
  readonly dataDir: string;
  readonly clock: { at: number };
}

/** Creates a data folder and an empty database. Several processes can use them. */
async function newMachine(kind: (typeof databaseKinds)[number] = 'SQLite'): Promise<Machine> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-mail-'));
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true }));
  const { db, close } = await openTestDatabase(kind);
  onTestFinished(close);
  return { db, dataDir, clock: { at: Date.UTC(2026, 4, 1) } };
}

/** Starts the mail service of one process. @param smtpUrl null: without a mail server */
function start({ db, dataDir, clock }: Machine, smtpUrl: string | null, { allowPlaintextMail = false } = {}) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const background = createBackground({ log });
  const mail = createMail({
    config: { dataDir, smtpUrl, allowPlaintextMail, mailFrom: 'Lamina <no-reply@example.org>' },
    db,
    now: () => new Date(clock.at),
    log,
    background,
    encryption: createEncryption({ dataDir, secretKey: null }),
  });
  onTestFinished(async () => {
    await background.close();
    mail.close();
  });
  const outbox = path.join(dataDir, 'outbox');
  return {
    mail,
    background,
    logged: () => lines.join(''),
    outboxFiles: () =>
      fs.existsSync(outbox) ? fs.readdirSync(outbox).map((name) => path.join(outbox, name)) : [],
  };
}

/** Returns the queued e-mails, which the table `letters` holds. */
const queuedRows = ({ db }: Machine) => db.selectFrom('letters').selectAll().execute();

/** Starts a real mail server on this machine that rejects the first `refusals` e-mails. */
async function mailServer({ refusals = 0, offersTls = false } = {}) {
  const received: string[] = [];
  const encrypted: boolean[] = [];
  let requestCount = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: offersTls ? [] : ['STARTTLS'],
    onMailFrom: (_, __, answer) => {
      requestCount += 1;
      answer(null);
    },
    onRcptTo: ({ address }, _, answer) => {
      const busy = Object.assign(new Error(`<${address}>: come back later`), { responseCode: 451 });
      answer(requestCount <= refusals ? busy : null);
    },
    onData: (stream, { secure }, answer) => {
      encrypted.push(secure);
      void text(stream).then((message) => {
        received.push(message);
        answer();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, port, received, encrypted, requestCount: () => requestCount };
}

describe('createMail (sends e-mails) without a mail server', () => {
  it('writes an e-mail to the outbox folder as a file that mail programs can open', async () => {
    const { mail, background, outboxFiles } = start(await newMachine(), null);
    mail.send(email);
    await background.idle();
    const [file = '', ...others] = outboxFiles();
    expect(others).toEqual([]);
    expect(file).toMatch(/\.eml$/);
    const { from, to, subject, text: plain } = await postalMime.parse(fs.readFileSync(file));
    expect({ from, to, subject }).toMatchObject({
      from: { name: 'Lamina', address: 'no-reply@example.org' },
      to: [{ address: email.to }],
      subject: email.subject,
    });
    expect(plain?.trim()).toBe(email.text.trim());
  });

  it('writes the text of an e-mail without base64 or quoted-printable, so that its links can be copied from the file', async () => {
    const { mail, background, outboxFiles } = start(await newMachine(), null);
    mail.send(email);
    await background.idle();
    expect(fs.readFileSync(outboxFiles()[0] ?? '', 'utf8')).toContain(`#code=${'Ab_-9'.repeat(9)}\r\n`);
  });

  it('creates the outbox folder and its files with access for the owner only', async () => {
    const { mail, background, outboxFiles } = start(await newMachine(), null);
    mail.send(email);
    await background.idle();
    const [file = ''] = outboxFiles();
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });
});

describe('createMail (sends e-mails) with a mail server', () => {
  it('sends an e-mail, writes no file to the outbox folder and deletes the e-mail from the queue', async () => {
    const server = await mailServer();
    const machine = await newMachine();
    const { mail, background, outboxFiles } = start(machine, server.url);
    mail.send(email);
    await background.idle();
    expect(await postalMime.parse(server.received[0] ?? '')).toMatchObject({
      to: [{ address: email.to }],
      subject: email.subject,
      text: expect.stringContaining('#code=Ab_-9'),
    });
    expect(outboxFiles()).toEqual([]);
    expect(await queuedRows(machine)).toEqual([]);
  });

  it('retries an e-mail a minute after the mail server rejected it, not immediately', async () => {
    const server = await mailServer({ refusals: 1 });
    const machine = await newMachine();
    const { mail, background, logged } = start(machine, server.url);
    mail.send(email);
    await background.idle();
    mail.wake();
    await background.idle();
    expect([server.requestCount(), server.received.length]).toEqual([1, 0]);
    expect(logged()).toContain('e-mail could not be sent; it will be retried in');

    machine.clock.at += minute;
    mail.wake();
    await background.idle();
    expect(server.received).toHaveLength(1);
    expect(logged()).not.toContain('code=');
  });

  it('logs why the mail server rejected an e-mail, but not the address of the recipient', async () => {
    const server = await mailServer({ refusals: 1 });
    const { mail, background, logged } = start(await newMachine(), server.url);
    mail.send(email);
    await background.idle();
    expect(logged()).toContain('<address>: come back later');
    expect(logged()).not.toContain(email.to);
  });

  it('deletes an e-mail after the mail server has rejected it 20 times, and logs this without the text of the e-mail', async () => {
    const server = await mailServer({ refusals: 1000 });
    const machine = await newMachine();
    const { mail, background, logged } = start(machine, server.url);
    mail.send(email);
    for (let hours = 0; hours < 72; hours += 3) {
      await background.idle();
      machine.clock.at += day / 8;
      mail.wake();
    }
    await background.idle();
    expect(await queuedRows(machine)).toEqual([]);
    expect(server.requestCount()).toBe(20); // the first attempt and 19 retries
    expect(logged()).toContain('e-mail could not be sent after the last retry');
    expect(logged()).not.toContain('code=');
  });
});

describe.each(databaseKinds)('queued e-mail (database: %s)', (kind) => {
  it('is sent if its transaction is committed, but not if it is rolled back', async () => {
    const machine = await newMachine(kind);
    const { mail, background, outboxFiles } = start(machine, null);
    const rolledBack = runLockedTransaction(machine.db, 'accounts', async (tx) => {
      await mail.queue(tx, email);
      throw new Error('the change does not happen');
    });
    await expect(rolledBack).rejects.toThrow('does not happen');
    mail.wake();
    await background.idle();
    expect(outboxFiles()).toEqual([]);

    await runLockedTransaction(machine.db, 'accounts', (tx) => mail.queue(tx, email));
    mail.wake();
    await background.idle();
    expect(outboxFiles()).toHaveLength(1);
  });

  it('is sent at the next start of the server when the process ended before sending it', async () => {
    const machine = await newMachine(kind);
    const first = start(machine, null);
    await first.background.close();
    await runLockedTransaction(machine.db, 'accounts', (tx) => first.mail.queue(tx, email));
    expect(first.outboxFiles()).toEqual([]);

    const second = start(machine, null);
    await second.background.idle();
    expect(second.outboxFiles()).toHaveLength(1);
    expect(await queuedRows(machine)).toEqual([]);
  });

  it('is sent within a minute after an outage of the database ends, even if no other e-mail is queued', async () => {
    const machine = await newMachine(kind);
    const writer = start(machine, null);
    await writer.background.close();
    await runLockedTransaction(machine.db, 'accounts', (tx) => writer.mail.queue(tx, email));
    let isUnavailable = true;
    const db = machine.db.withPlugin({
      transformQuery({ node }) {
        if (isUnavailable) throw new Error('the database is unavailable');
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { background, outboxFiles } = start({ ...machine, db }, null);
    await background.idle();
    expect(outboxFiles()).toEqual([]);
    isUnavailable = false;
    vi.advanceTimersByTime(minute);
    vi.useRealTimers();
    await background.idle();
    expect(outboxFiles()).toHaveLength(1);
  });

  it('is sent by another process two minutes after a process claimed it and was killed', async () => {
    const machine = await newMachine(kind);
    const { mail, background, outboxFiles } = start(machine, null);
    await background.idle();
    await runLockedTransaction(machine.db, 'accounts', (tx) => mail.queue(tx, email));
    // A killed process leaves an e-mail claimed but not sent.
    const claimedUntil = new Date(machine.clock.at + 2 * minute).toISOString();
    await machine.db.updateTable('letters').set({ due_at: claimedUntil, attempts: 1 }).execute();
    mail.wake();
    await background.idle();
    expect(outboxFiles()).toEqual([]);
    machine.clock.at += 2 * minute;
    mail.wake();
    await background.idle();
    expect(outboxFiles()).toHaveLength(1);
  });

  it('is sent once when several processes send at the same time', async () => {
    const machine = await newMachine(kind);
    const processes = Array.from({ length: 4 }, () => start(machine, null));
    await runLockedTransaction(machine.db, 'accounts', async (tx) => {
      for (let n = 0; n < 10; n++) await processes[0]?.mail.queue(tx, email);
    });
    for (const { mail } of processes) mail.wake();
    for (const { background } of processes) await background.idle();
    expect(processes[0]?.outboxFiles()).toHaveLength(10);
  });

  it('is stored encrypted: the database contains neither its text nor its recipient', async () => {
    const machine = await newMachine(kind);
    const { mail } = start(machine, null);
    await runLockedTransaction(machine.db, 'accounts', (tx) => mail.queue(tx, email));
    expect(JSON.stringify(await queuedRows(machine))).not.toMatch(/code=|ayse/);
  });
});

describe('createMail (sends e-mails) with a mail server on another machine', () => {
  /** Linux connects to 0.0.0.0 on this machine, but it is not a loopback address. */
  const remoteUrl = (port: number, query = '') => `smtp://0.0.0.0:${port}${query}`;

  it.each(['', '?ignoreTLS=true', '?requireTLS=false', '?opportunisticTLS=true', '?secure=false'])(
    'sends nothing to a server without STARTTLS when SMTP_URL has the query %j',
    async (query) => {
      const { port, received, requestCount } = await mailServer();
      const machine = await newMachine();
      const { mail, background, logged } = start(machine, remoteUrl(port, query));
      mail.send(email);
      await background.idle();
      expect([received, requestCount()]).toEqual([[], 0]);
      expect(await queuedRows(machine)).toHaveLength(1);
      expect(logged()).toContain('SMTP_ALLOW_PLAINTEXT=on');
    },
  );

  it('sends nothing to a server without TLS when SMTP_URL starts with smtps:// and has the query secure=false', async () => {
    const { port, requestCount } = await mailServer();
    const { mail, background } = start(await newMachine(), `smtps://0.0.0.0:${port}?secure=false`);
    mail.send(email);
    await background.idle();
    expect(requestCount()).toBe(0);
  });

  it('encrypts the connection with STARTTLS before it sends an e-mail', async () => {
    const { port, received, encrypted } = await mailServer({ offersTls: true });
    // The test's mail server has a self-signed certificate.
    const { mail, background } = start(await newMachine(), remoteUrl(port, '?tls.rejectUnauthorized=false'));
    mail.send(email);
    await background.idle();
    expect([received.length, encrypted]).toEqual([1, [true]]);
  });

  it('sends nothing when the certificate of the mail server is not trusted', async () => {
    const { port, received } = await mailServer({ offersTls: true });
    const { mail, background, logged } = start(await newMachine(), remoteUrl(port));
    mail.send(email);
    await background.idle();
    expect(received).toEqual([]);
    expect(logged()).toContain('certificate');
  });

  it('sends in plain text to a server without STARTTLS when SMTP_ALLOW_PLAINTEXT=on is set', async () => {
    const { port, received, encrypted } = await mailServer();
    const { mail, background } = start(await newMachine(), remoteUrl(port), { allowPlaintextMail: true });
    mail.send(email);
    await background.idle();
    expect([received.length, encrypted]).toEqual([1, [false]]);
  });
});
