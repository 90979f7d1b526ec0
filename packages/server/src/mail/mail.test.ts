import { once } from 'node:events';
import fs from 'node:fs';
import net, { type AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pino from 'pino';
import postalMime from 'postal-mime';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createBackground } from '../background.ts';
import { createMail } from './mail.ts';

const letter = {
  to: 'ayse@example.org',
  subject: 'Şifre sıfırlama',
  text: `Merhaba,\n\nhttp://127.0.0.1:3000/auth/password-reset#code=${'Ab_-9'.repeat(9)}\n`,
};

function mailTo(smtpUrl: string | null) {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-mail-'));
  onTestFinished(() => fs.rmSync(dataDir, { recursive: true }));
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line) => lines.push(line) });
  const background = createBackground({ log });
  const mail = createMail({
    config: { dataDir, smtpUrl, mailFrom: 'Lamina <no-reply@example.org>' },
    log,
    background,
  });
  onTestFinished(() => mail.close());
  return { mail, background, outbox: path.join(dataDir, 'outbox'), logged: () => lines.join('') };
}

/** A mail server that says yes to everything, after refusing the first `refusals` connections. */
async function mailServer(refusals = 0) {
  const received: string[] = [];
  let connections = 0;
  const server = net.createServer((socket) => {
    socket.on('error', () => socket.destroy());
    if (connections++ < refusals) {
      socket.end('421 later\r\n');
      return;
    }
    let letterSoFar: string | null = null;
    socket.setEncoding('utf8').write('220 test\r\n');
    socket.on('data', (text: string) => {
      for (const line of text.split('\r\n').slice(0, -1)) {
        if (letterSoFar === null) {
          if (line === 'DATA') letterSoFar = '';
          socket.write(line === 'DATA' ? '354 go on\r\n' : line === 'QUIT' ? '221 bye\r\n' : '250 ok\r\n');
        } else if (line === '.') {
          received.push(letterSoFar);
          letterSoFar = null;
          socket.write('250 ok\r\n');
        } else letterSoFar += `${line}\r\n`;
      }
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { url: `smtp://127.0.0.1:${(server.address() as AddressInfo).port}`, received };
}

describe('without a mail server', () => {
  it('a letter is a file in the outbox that any mail program opens', async () => {
    const { mail, background, outbox } = mailTo(null);
    mail.send(letter);
    await background.idle();
    const [name = '', ...others] = fs.readdirSync(outbox);
    expect(others).toEqual([]);
    expect(name).toMatch(/\.eml$/);
    const file = fs.readFileSync(path.join(outbox, name));
    const { from, to, subject, text } = await postalMime.parse(file);
    expect({ from, to, subject }).toMatchObject({
      from: { name: 'Lamina', address: 'no-reply@example.org' },
      to: [{ address: letter.to }],
      subject: letter.subject,
    });
    expect(text?.trim()).toBe(letter.text.trim());
  });

  it('its link can be read without one', async () => {
    const { mail, background, outbox } = mailTo(null);
    mail.send(letter);
    await background.idle();
    const [name = ''] = fs.readdirSync(outbox);
    expect(fs.readFileSync(path.join(outbox, name), 'utf8')).toContain(`#code=${'Ab_-9'.repeat(9)}\r\n`);
  });

  it('nobody but the owner can read it', async () => {
    const { mail, background, outbox } = mailTo(null);
    mail.send(letter);
    await background.idle();
    const [name = ''] = fs.readdirSync(outbox);
    expect(fs.statSync(path.join(outbox, name)).mode & 0o777).toBe(0o600);
    expect(fs.statSync(outbox).mode & 0o777).toBe(0o700);
  });
});

describe('with a mail server', () => {
  it('a letter is sent, and the outbox stays empty', async () => {
    const server = await mailServer();
    const { mail, background, outbox } = mailTo(server.url);
    mail.send(letter);
    await background.idle();
    expect(await postalMime.parse(server.received[0] ?? '')).toMatchObject({
      to: [{ address: letter.to }],
      subject: letter.subject,
      text: expect.stringContaining('#code=Ab_-9'),
    });
    expect(fs.existsSync(outbox)).toBe(false);
  });

  it('that is away for a moment, the letter is sent again', async () => {
    const server = await mailServer(1);
    const { mail, background, logged } = mailTo(server.url);
    mail.send(letter);
    await background.close(); // the end of the process: the further attempts come at once
    expect(server.received).toHaveLength(1);
    expect(logged()).toContain('could not be sent yet');
    expect(logged()).not.toContain('code=');
  });

  it('that stays away, the letter is given up and the log tells so without its text', async () => {
    const server = await mailServer(100);
    const { mail, background, logged } = mailTo(server.url);
    mail.send(letter);
    await background.close();
    expect(server.received).toEqual([]);
    expect(logged()).toContain('a letter could not be sent"');
    expect(logged()).not.toContain('code=');
  });
});
