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
import { createBackground } from '../background.ts';
import { createSealing } from '../sealing.ts';
import { change, type Database } from '../store/database.ts';
import { databaseKinds, openTestDatabase } from '../store/testing/test-database.ts';
import { createMail } from './mail.ts';

const letter = {
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

async function machine(kind: (typeof databaseKinds)[number] = 'SQLite'): Promise<Machine> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-mail-'));
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true }));
  const { db, close } = await openTestDatabase(kind);
  onTestFinished(close);
  return { db, dataDir, clock: { at: Date.UTC(2026, 4, 1) } };
}

/** A process that has been started on this machine. */
function start({ db, dataDir, clock }: Machine, smtpUrl: string | null) {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const background = createBackground({ log });
  const mail = createMail({
    config: { dataDir, smtpUrl, mailFrom: 'Lamina <no-reply@example.org>' },
    db,
    now: () => new Date(clock.at),
    log,
    background,
    sealing: createSealing({ dataDir, secretKey: null }),
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
    letters: () =>
      fs.existsSync(outbox) ? fs.readdirSync(outbox).map((name) => path.join(outbox, name)) : [],
  };
}

const waiting = ({ db }: Machine) => db.selectFrom('letters').selectAll().execute();

/** A real mail server on this machine that refuses the first `refusals` letters. */
async function mailServer(refusals = 0) {
  const received: string[] = [];
  let asked = 0;
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onMailFrom: (_, __, answer) => {
      asked += 1;
      const busy = Object.assign(new Error('come back later'), { responseCode: 451 });
      answer(asked <= refusals ? busy : null);
    },
    onData: (stream, _, answer) => {
      void text(stream).then((whole) => {
        received.push(whole);
        answer();
      });
    },
  });
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => new Promise<void>((resolve) => server.close(resolve)));
  const { port } = server.server.address() as AddressInfo;
  return { url: `smtp://127.0.0.1:${port}`, received, asked: () => asked };
}

describe('without a mail server', () => {
  it('a letter is a file in the outbox that any mail program opens', async () => {
    const { mail, background, letters } = start(await machine(), null);
    mail.send(letter);
    await background.idle();
    const [file = '', ...others] = letters();
    expect(others).toEqual([]);
    expect(file).toMatch(/\.eml$/);
    const { from, to, subject, text: plain } = await postalMime.parse(fs.readFileSync(file));
    expect({ from, to, subject }).toMatchObject({
      from: { name: 'Lamina', address: 'no-reply@example.org' },
      to: [{ address: letter.to }],
      subject: letter.subject,
    });
    expect(plain?.trim()).toBe(letter.text.trim());
  });

  it('its link can be read without one', async () => {
    const { mail, background, letters } = start(await machine(), null);
    mail.send(letter);
    await background.idle();
    expect(fs.readFileSync(letters()[0] ?? '', 'utf8')).toContain(`#code=${'Ab_-9'.repeat(9)}\r\n`);
  });

  it('nobody but the owner can read it', async () => {
    const { mail, background, letters } = start(await machine(), null);
    mail.send(letter);
    await background.idle();
    const [file = ''] = letters();
    expect(fs.statSync(file).mode & 0o777).toBe(0o600);
    expect(fs.statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });
});

describe('with a mail server', () => {
  it('a letter is sent, the outbox stays empty, and nothing of the letter stays behind', async () => {
    const server = await mailServer();
    const here = await machine();
    const { mail, background, letters } = start(here, server.url);
    mail.send(letter);
    await background.idle();
    expect(await postalMime.parse(server.received[0] ?? '')).toMatchObject({
      to: [{ address: letter.to }],
      subject: letter.subject,
      text: expect.stringContaining('#code=Ab_-9'),
    });
    expect(letters()).toEqual([]);
    expect(await waiting(here)).toEqual([]);
  });

  it('that says no, the letter is sent again after a while, and not before', async () => {
    const server = await mailServer(1);
    const here = await machine();
    const { mail, background, logged } = start(here, server.url);
    mail.send(letter);
    await background.idle();
    mail.wake();
    await background.idle();
    expect([server.asked(), server.received.length]).toEqual([1, 0]);
    expect(logged()).toContain('could not be sent yet');

    here.clock.at += minute;
    mail.wake();
    await background.idle();
    expect(server.received).toHaveLength(1);
    expect(logged()).not.toContain('code=');
  });

  it('that goes on saying no, the letter is given up after two days, and the log tells so without its text', async () => {
    const server = await mailServer(1000);
    const here = await machine();
    const { mail, background, logged } = start(here, server.url);
    mail.send(letter);
    for (let hours = 0; hours < 72; hours += 3) {
      await background.idle();
      here.clock.at += day / 8;
      mail.wake();
    }
    await background.idle();
    expect(await waiting(here)).toEqual([]);
    expect(server.asked()).toBe(20);
    expect(logged()).toContain('a letter could not be sent"');
    expect(logged()).not.toContain('code=');
  });
});

describe.each(databaseKinds)('a queued letter, on %s,', (kind) => {
  it('is there exactly when the change is that it tells of', async () => {
    const here = await machine(kind);
    const { mail, background, letters } = start(here, null);
    const undone = change(here.db, 'accounts', async (tx) => {
      await mail.queue(tx, letter);
      throw new Error('the change does not happen');
    });
    await expect(undone).rejects.toThrow('does not happen');
    mail.wake();
    await background.idle();
    expect(letters()).toEqual([]);

    await change(here.db, 'accounts', (tx) => mail.queue(tx, letter));
    mail.wake();
    await background.idle();
    expect(letters()).toHaveLength(1);
  });

  it('of a process that ended goes out at the next start', async () => {
    const here = await machine(kind);
    const first = start(here, null);
    await first.background.close();
    await change(here.db, 'accounts', (tx) => first.mail.queue(tx, letter));
    expect(first.letters()).toEqual([]);

    const second = start(here, null);
    await second.background.idle();
    expect(second.letters()).toHaveLength(1);
    expect(await waiting(here)).toEqual([]);
  });

  it('goes out when a database that was away is back, though nobody writes another one', async () => {
    const here = await machine(kind);
    const writer = start(here, null);
    await writer.background.close();
    await change(here.db, 'accounts', (tx) => writer.mail.queue(tx, letter));
    let isAway = true;
    const db = here.db.withPlugin({
      transformQuery({ node }) {
        if (isAway) throw new Error('the database is away');
        return node;
      },
      transformResult: async ({ result }) => result,
    });
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const { background, letters } = start({ ...here, db }, null);
    await background.idle();
    expect(letters()).toEqual([]);
    isAway = false;
    vi.advanceTimersByTime(minute);
    vi.useRealTimers();
    await background.idle();
    expect(letters()).toHaveLength(1);
  });

  it('that a process took before it was killed goes out two minutes later', async () => {
    const here = await machine(kind);
    const { mail, background, letters } = start(here, null);
    await background.idle();
    await change(here.db, 'accounts', (tx) => mail.queue(tx, letter));
    // As the other process left it: taken, not sent.
    const taken = new Date(here.clock.at + 2 * minute).toISOString();
    await here.db.updateTable('letters').set({ due_at: taken, attempts: 1 }).execute();
    mail.wake();
    await background.idle();
    expect(letters()).toEqual([]);
    here.clock.at += 2 * minute;
    mail.wake();
    await background.idle();
    expect(letters()).toHaveLength(1);
  });

  it('goes out once, however many processes look', async () => {
    const here = await machine(kind);
    const processes = Array.from({ length: 4 }, () => start(here, null));
    await change(here.db, 'accounts', async (tx) => {
      for (let n = 0; n < 10; n++) await processes[0]?.mail.queue(tx, letter);
    });
    for (const { mail } of processes) mail.wake();
    for (const { background } of processes) await background.idle();
    expect(processes[0]?.letters()).toHaveLength(10);
  });

  it('is not readable in a copy of the database', async () => {
    const here = await machine(kind);
    const { mail } = start(here, null);
    await change(here.db, 'accounts', (tx) => mail.queue(tx, letter));
    expect(JSON.stringify(await waiting(here))).not.toMatch(/code=|ayse/);
  });
});
