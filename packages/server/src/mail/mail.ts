/**
 * Sends e-mails through the configured mail server; without one, writes them to the outbox folder. E-mails wait as
 * rows of the database, so that none is lost when a process ends.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Background } from '../platform/background-tasks.ts';
import type { Config } from '../platform/config.ts';
import type { Encryption } from '../platform/encryption.ts';
import type { Change, Connection, Database } from '../store/database.ts';
import {
  claimEmail,
  deleteEmail,
  findDueEmail,
  insertEmail,
  nextEmailDue,
  postponeEmail,
} from '../store/outgoing-emails.ts';
import type { Row } from '../store/schema.ts';
import { isTlsFault, type SmtpSettings, smtpOptions, tlsAdvice } from './smtp-options.ts';

export interface Email {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /**
   * Queues an e-mail in the transaction of the change that it reports: both are committed, or neither. `wake` sends it.
   */
  queue(tx: Change, email: Email): Promise<void>;
  /** Sends all due e-mails in the background. To be called after the commit. */
  wake(): void;
  /** Queues and sends an e-mail that belongs to no change. Returns at once, without waiting for the mail server. */
  send(email: Email): void;
  /** Stops sending. Queued e-mails are sent after the next start. */
  close(): void;
}

const minuteMs = 60_000;
/** Delay after each failed attempt. When the attempt after the last delay fails too, after two days, the e-mail is deleted. */
const retryAfterMs = [
  10_000,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  ...Array<number>(15).fill(180 * minuteMs),
];
/** Time for which a process reserves an e-mail. If it ends before sending, another process sends the e-mail afterwards. */
const claimMs = 2 * minuteMs;
/** Interval at which the process looks for e-mails that other processes left unsent. */
const pollEveryMs = minuteMs;
const connectionTimeoutMs = 10_000;

type Dependencies = {
  readonly config: Pick<Config, 'dataDir' | 'mailFrom' | 'smtpUrl' | 'allowPlaintextMail'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly background: Background;
  readonly encryption: Encryption;
};

export function createMail({ config, db, now, log, background, encryption }: Dependencies): Mail {
  const { smtpUrl } = config;
  const transport = smtpUrl === null ? createOutbox(config) : createSmtpTransport({ ...config, smtpUrl });
  const timestampIn = (ms: number) => new Date(now().getTime() + ms).toISOString();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isSending = false;
  let isWokenAgain = false;

  /** Binds a ciphertext to its row. The text must not change: e-mails that are stored can only be decrypted with it. */
  const purpose = (id: string) => `letter ${id}`;

  async function queue(to: Connection, email: Email): Promise<void> {
    const id = randomUUID();
    const at = now().toISOString();
    const content = encryption.encrypt(JSON.stringify(email), purpose(id));
    await insertEmail(to, { id, content, created_at: at, attempts: 0, due_at: at });
  }

  async function deliver(row: Row<'letters'>): Promise<void> {
    try {
      await transport.deliver(JSON.parse(encryption.decrypt(row.content, purpose(row.id))) as Email);
    } catch (error) {
      const waitMs = retryAfterMs[row.attempts];
      const reason = reasonOf(error);
      if (waitMs === undefined) {
        log.error({ reason, email: row.id }, 'e-mail could not be sent at the last attempt; it was deleted');
        await deleteEmail(db, row.id);
        return;
      }
      log.warn({ reason, email: row.id }, 'e-mail could not be sent; it is tried again later');
      await postponeEmail(db, row.id, timestampIn(waitMs));
      return;
    }
    await deleteEmail(db, row.id);
  }

  async function deliverDue(closing: AbortSignal): Promise<void> {
    while (!closing.aborted) {
      const email = await findDueEmail(db, now().toISOString());
      if (email === null) return;
      if (await claimEmail(db, email, timestampIn(claimMs))) await deliver(email);
    }
  }

  function wake(): void {
    if (isClosed) return;
    if (isSending) {
      isWokenAgain = true;
      return;
    }
    isSending = true;
    background.run('sending e-mails', async (closing) => {
      try {
        do {
          isWokenAgain = false;
          await deliverDue(closing);
          await schedulePoll();
        } while (isWokenAgain && !closing.aborted);
      } catch (error) {
        pollIn(pollEveryMs); // the database is unavailable
        throw error;
      } finally {
        isSending = false;
      }
    });
  }

  /** Schedules the next poll: when the next e-mail is due, but within `pollEveryMs`, because other processes leave e-mails too. */
  async function schedulePoll(): Promise<void> {
    const due = await nextEmailDue(db);
    const waitMs = due === null ? pollEveryMs : Date.parse(due) - now().getTime();
    pollIn(Math.min(pollEveryMs, Math.max(1000, waitMs)));
  }

  function pollIn(ms: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(wake, ms).unref();
  }

  wake(); // e-mails that an earlier process left

  return {
    queue,
    wake,
    send(email) {
      background.run('queueing an e-mail', async () => {
        await queue(db, email);
        wake();
      });
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      transport.close();
    },
  };
}

/** Returns the message of the mail server. Only the message is logged, because the error itself may contain the e-mail. */
function reasonOf(error: unknown): string {
  const reason = error instanceof Error ? error.message : String(error);
  return isTlsFault(error) ? `${reason}. ${tlsAdvice}` : reason;
}

interface Transport {
  deliver(email: Email): Promise<void>;
  close(): void;
}

function createSmtpTransport({
  mailFrom: from,
  ...settings
}: SmtpSettings & Pick<Config, 'mailFrom'>): Transport {
  const smtp = createTransport({
    ...smtpOptions(settings, connectionTimeoutMs),
    pool: true, // at most five connections
  });
  return {
    deliver: async (email) => {
      await smtp.sendMail({ from, ...email });
    },
    close: () => smtp.close(),
  };
}

function createOutbox({ dataDir, mailFrom }: Pick<Config, 'dataDir' | 'mailFrom'>): Transport {
  const folder = path.join(dataDir, 'outbox');
  const transport = createTransport({ streamTransport: true, buffer: true });
  return {
    async deliver(email) {
      const { message } = await transport.sendMail({ from: mailFrom, ...email });
      const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomUUID().slice(0, 8)}.eml`;
      const unfinished = path.join(folder, `.${name}`);
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      // An e-mail may carry a link that sets a password: only the owner of the folder may read it. It gets its final
      // name when it is complete.
      await fs.writeFile(unfinished, readable((message as Buffer).toString(), email.text), { mode: 0o600 });
      await fs.rename(unfinished, path.join(folder, name));
    },
    close: () => transport.close(),
  };
}

/** Replaces quoted-printable by the plain text, so that a person who opens the file can follow the link in it. */
function readable(message: string, text: string): string {
  const head = message.slice(0, message.indexOf('\r\n\r\n'));
  const plainHead = head.replace(/^Content-Transfer-Encoding: .*$/m, 'Content-Transfer-Encoding: 8bit');
  return `${plainHead}\r\n\r\n${text.replaceAll('\n', '\r\n')}`;
}
