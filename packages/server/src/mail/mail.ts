/**
 * Sends e-mails through the configured mail server, or writes them to the outbox folder if none is configured. Queued
 * e-mails are encrypted rows of the database, so that none is lost when a process ends.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Background } from '../platform/background-tasks.ts';
import type { Config } from '../platform/config.ts';
import type { Encryption } from '../platform/encryption.ts';
import type { Connection, Database, DatabaseTransaction } from '../store/database.ts';
import {
  claimEmail,
  deleteEmail,
  findDueEmail,
  insertEmail,
  nextEmailDue,
  postponeEmail,
} from '../store/outgoing-emails.ts';
import type { Row } from '../store/schema.ts';
import { isTlsError, type SmtpSettings, smtpOptions, tlsAdvice } from './smtp-options.ts';

export interface Email {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /**
   * Queues an e-mail in the transaction of the change that the e-mail reports, so that it is queued only if the change is committed. Call
   * `wake` after the commit to send it.
   */
  queue(tx: DatabaseTransaction, email: Email): Promise<void>;
  /** Sends all due e-mails in the background. */
  wake(): void;
  /** Queues and sends an e-mail that does not report a change. Returns at once, without waiting for the mail server. */
  send(email: Email): void;
  /** Stops sending. Queued e-mails are sent after the next start. */
  close(): void;
}

const minuteMs = 60_000;
/** Delays after failed attempts, about two days in total. If the attempt after the last delay also fails, the e-mail is deleted. */
const retryAfterMs = [
  10_000,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  ...Array<number>(15).fill(180 * minuteMs),
];
/** Time for which a process claims an e-mail. If the process ends before it has sent the e-mail, another process sends it later. */
const claimMs = 2 * minuteMs;
/** Maximum interval at which a process looks for due e-mails, including those that other processes did not send. */
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

/** Creates the mail service, and starts sending e-mails that earlier processes left. */
export function createMail({ config, db, now, log, background, encryption }: Dependencies): Mail {
  const { smtpUrl } = config;
  const transport = smtpUrl === null ? createOutbox(config) : createSmtpTransport({ ...config, smtpUrl });
  const timestampIn = (ms: number) => new Date(now().getTime() + ms).toISOString(); // `ms` milliseconds from now
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isSending = false;
  /** Whether `wake` was called while e-mails were being sent. */
  let isWokenAgain = false;

  /** Binds a ciphertext to its row in `letters`, the table of queued e-mails. Must not change, or stored rows are unreadable. */
  const purposeOf = (id: string) => `letter ${id}`;

  async function queue(connection: Connection, email: Email): Promise<void> {
    const id = randomUUID();
    const queuedAt = now().toISOString();
    const content = encryption.encrypt(JSON.stringify(email), purposeOf(id));
    await insertEmail(connection, { id, content, created_at: queuedAt, attempts: 0, due_at: queuedAt });
  }

  async function deliver(row: Row<'letters'>): Promise<void> {
    try {
      await transport.deliver(JSON.parse(encryption.decrypt(row.content, purposeOf(row.id))) as Email);
    } catch (error) {
      const waitMs = retryAfterMs[row.attempts];
      const reason = reasonOf(error);
      if (waitMs === undefined) {
        log.error(
          { reason, emailId: row.id },
          'e-mail could not be sent after the last retry; the server deletes it from the queue without sending it',
        );
        await deleteEmail(db, row.id);
        return;
      }
      log.warn(
        { reason, emailId: row.id, delayMs: waitMs },
        'e-mail could not be sent; it will be retried in `delayMs` milliseconds',
      );
      await postponeEmail(db, row.id, timestampIn(waitMs));
      return;
    }
    await deleteEmail(db, row.id);
  }

  async function deliverDue(closing: AbortSignal): Promise<void> {
    while (!closing.aborted) {
      const email = await findDueEmail(db, now().toISOString());
      if (email === null) return;
      if (await claimEmail(db, email, timestampIn(claimMs))) await deliver(email); // false: another process has claimed it
    }
  }

  function wake(): void {
    if (isClosed) return;
    if (isSending) {
      isWokenAgain = true;
      return;
    }
    isSending = true;
    // The text is logged if the work fails.
    background.run(
      'queued e-mails could not be sent; the server tries again within a minute',
      async (closing) => {
        try {
          do {
            isWokenAgain = false;
            await deliverDue(closing);
            await schedulePoll();
          } while (isWokenAgain && !closing.aborted);
        } catch (error) {
          pollIn(pollEveryMs); // the database is unavailable; try again later
          throw error;
        } finally {
          isSending = false;
        }
      },
    );
  }

  /** Schedules the next poll for the time when the next e-mail is due, from one second to `pollEveryMs` from now. */
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
      background.run(
        'e-mail could not be stored in the queue of the database; it will not be sent',
        async () => {
          await queue(db, email);
          wake();
        },
      );
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      transport.close();
    },
  };
}

/**
 * Returns the message of an error without e-mail addresses: mail servers name the recipient that they reject. Only this
 * message is logged, because other fields of the error may contain the e-mail.
 */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  const reason = message.replaceAll(/[^\s<>"]+@[^\s<>"]+/g, 'address');
  return isTlsError(error) ? `${reason}. ${tlsAdvice}` : reason;
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

/** Creates a transport that writes each e-mail to a file. */
function createOutbox({ dataDir, mailFrom }: Pick<Config, 'dataDir' | 'mailFrom'>): Transport {
  const folder = path.join(dataDir, 'outbox');
  const transport = createTransport({ streamTransport: true, buffer: true }); // creates messages without sending them
  return {
    async deliver(email) {
      const { message } = await transport.sendMail({ from: mailFrom, ...email });
      const name = `${new Date().toISOString().replaceAll(/[:.]/g, '-')}-${randomUUID().slice(0, 8)}.eml`;
      const unfinishedFile = path.join(folder, `.${name}`);
      await fs.mkdir(folder, { recursive: true, mode: 0o700 });
      // Only the owner of the folder may read e-mails, because they may contain links that set passwords. A file gets
      // its final name when it is complete.
      await fs.writeFile(unfinishedFile, withPlainBody((message as Buffer).toString(), email.text), {
        mode: 0o600,
      });
      await fs.rename(unfinishedFile, path.join(folder, name));
    },
    close: () => transport.close(),
  };
}

/** Replaces the encoded body of a message by its plain text, so that a user can copy links from the file. */
function withPlainBody(message: string, text: string): string {
  const head = message.slice(0, message.indexOf('\r\n\r\n'));
  const plainHead = head.replace(/^Content-Transfer-Encoding: .*$/m, 'Content-Transfer-Encoding: 8bit');
  return `${plainHead}\r\n\r\n${text.replaceAll('\n', '\r\n')}`;
}
