/** Sends mail by the mail server that is set; without one, writes it to the outbox folder. */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Background } from '../background.ts';
import type { Config } from '../config.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /** Returns at once: nobody waits for a mail server. A letter that cannot be sent is logged, not its text. */
  send(letter: Letter): void;
  /** After the letters under way are out. */
  close(): void;
}

/** Waited before the second, the third and the fourth attempt. */
const retryAfterMs = [1000, 10_000, 60_000];
const connectionTimeoutMs = 10_000;

type Ground = {
  readonly config: Pick<Config, 'dataDir' | 'mailFrom' | 'smtpUrl'>;
  readonly log: Logger;
  readonly background: Background;
};

export function createMail({ config, log, background }: Ground): Mail {
  const post = config.smtpUrl === null ? createOutbox(config) : createPost(config.smtpUrl, config.mailFrom);

  async function deliver(letter: Letter, closing: AbortSignal): Promise<void> {
    for (const waitMs of retryAfterMs) {
      try {
        return await post.deliver(letter);
      } catch (error) {
        log.warn({ reason: reasonOf(error), subject: letter.subject }, 'a letter could not be sent yet');
      }
      // At the end of the process the last attempt comes at once.
      await delay(waitMs, undefined, { signal: closing }).catch(() => undefined);
    }
    await post.deliver(letter);
  }

  return {
    send(letter) {
      background.run('sending a letter', async (closing) => {
        try {
          await deliver(letter, closing);
        } catch (error) {
          log.error({ reason: reasonOf(error), subject: letter.subject }, 'a letter could not be sent');
        }
      });
    },
    close: () => post.close(),
  };
}

/** What the mail server said; the error itself may carry the letter. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

interface Post {
  deliver(letter: Letter): Promise<void>;
  close(): void;
}

function createPost(smtpUrl: string, from: string): Post {
  const transport = createTransport({
    url: smtpUrl,
    pool: true, // at most five connections, however many letters
    connectionTimeout: connectionTimeoutMs,
    greetingTimeout: connectionTimeoutMs,
    socketTimeout: connectionTimeoutMs,
  });
  return {
    deliver: async (letter) => {
      await transport.sendMail({ from, ...letter });
    },
    close: () => transport.close(),
  };
}

function createOutbox({ dataDir, mailFrom }: Pick<Config, 'dataDir' | 'mailFrom'>): Post {
  const folder = path.join(dataDir, 'outbox');
  const transport = createTransport({ streamTransport: true, buffer: true });
  return {
    async deliver(letter) {
      const { message } = await transport.sendMail({ from: mailFrom, ...letter });
      const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomUUID().slice(0, 8)}.eml`;
      const unfinished = path.join(folder, `.${name}`);
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      // A letter may carry a link that sets a password: for the owner of the folder alone. It gets its
      // name when it is whole.
      await fs.writeFile(unfinished, readable((message as Buffer).toString(), letter.text), { mode: 0o600 });
      await fs.rename(unfinished, path.join(folder, name));
    },
    close: () => transport.close(),
  };
}

/** The text as it is, not as quoted-printable: whoever opens the file wants to follow the link in it. */
function readable(message: string, text: string): string {
  const head = message.slice(0, message.indexOf('\r\n\r\n'));
  const plainHead = head.replace(/^Content-Transfer-Encoding: .*$/m, 'Content-Transfer-Encoding: 8bit');
  return `${plainHead}\r\n\r\n${text.replaceAll('\n', '\r\n')}`;
}
