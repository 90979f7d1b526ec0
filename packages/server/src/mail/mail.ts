/**
 * Sends mail by the mail server that is set; without one, writes it to the outbox folder. Letters wait as rows, so
 * that none is lost with a process.
 */
import { randomUUID } from 'node:crypto';
import fs from 'node:fs/promises';
import path from 'node:path';
import { createTransport } from 'nodemailer';
import type { Logger } from 'pino';
import type { Background } from '../background.ts';
import type { Config } from '../config.ts';
import type { Sealing } from '../sealing.ts';
import type { Change, Connection, Database } from '../store/database.ts';
import {
  deleteLetter,
  findDueLetter,
  insertLetter,
  nextLetterDue,
  postponeLetter,
  takeLetter,
} from '../store/letters.ts';
import type { Row } from '../store/schema.ts';

export interface Letter {
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly text: string;
}

export interface Mail {
  /**
   * Queues a letter in the transaction of the change it tells of, so that neither is without the other, whatever
   * happens to the process. Goes out after `wake`.
   */
  queue(tx: Change, letter: Letter): Promise<void>;
  /** After the commit: sends what is due, in the background. */
  wake(): void;
  /** Queues a letter that belongs to no change, and sends it. Returns at once: nobody waits for a mail server. */
  send(letter: Letter): void;
  /** Stops looking for letters. What has not gone out goes out after the next start. */
  close(): void;
}

const minuteMs = 60_000;
/** Waited after each attempt that failed; after the last one the letter is given up: two days in all. */
const retryAfterMs = [
  10_000,
  minuteMs,
  5 * minuteMs,
  30 * minuteMs,
  ...Array<number>(15).fill(180 * minuteMs),
];
/** A process that has taken a letter and ended leaves it to the others after so long. */
const takenForMs = 2 * minuteMs;
/** How often letters that other processes left are looked for. */
const lookEveryMs = minuteMs;
const connectionTimeoutMs = 10_000;

type Ground = {
  readonly config: Pick<Config, 'dataDir' | 'mailFrom' | 'smtpUrl'>;
  readonly db: Database;
  readonly now: () => Date;
  readonly log: Logger;
  readonly background: Background;
  readonly sealing: Sealing;
};

export function createMail({ config, db, now, log, background, sealing }: Ground): Mail {
  const post = config.smtpUrl === null ? createOutbox(config) : createPost(config.smtpUrl, config.mailFrom);
  const later = (ms: number) => new Date(now().getTime() + ms).toISOString();
  let timer: NodeJS.Timeout | null = null;
  let isClosed = false;
  let isSending = false;
  let isAskedAgain = false;

  const purpose = (id: string) => `letter ${id}`;

  async function queue(to: Connection, letter: Letter): Promise<void> {
    const id = randomUUID();
    const at = now().toISOString();
    const content = sealing.seal(JSON.stringify(letter), purpose(id));
    await insertLetter(to, { id, content, created_at: at, attempts: 0, due_at: at });
  }

  async function deliver(row: Row<'letters'>): Promise<void> {
    try {
      await post.deliver(JSON.parse(sealing.open(row.content, purpose(row.id))) as Letter);
    } catch (error) {
      const waitMs = retryAfterMs[row.attempts];
      const reason = reasonOf(error);
      if (waitMs === undefined) {
        log.error({ reason, letter: row.id }, 'a letter could not be sent');
        await deleteLetter(db, row.id);
        return;
      }
      log.warn({ reason, letter: row.id }, 'a letter could not be sent yet');
      await postponeLetter(db, row.id, later(waitMs));
      return;
    }
    await deleteLetter(db, row.id);
  }

  async function deliverDue(closing: AbortSignal): Promise<void> {
    while (!closing.aborted) {
      const letter = await findDueLetter(db, now().toISOString());
      if (letter === null) return;
      if (await takeLetter(db, letter, later(takenForMs))) await deliver(letter);
    }
  }

  function wake(): void {
    if (isClosed) return;
    if (isSending) {
      isAskedAgain = true;
      return;
    }
    isSending = true;
    background.run('sending letters', async (closing) => {
      try {
        do {
          isAskedAgain = false;
          await deliverDue(closing);
          await lookAgain();
        } while (isAskedAgain && !closing.aborted);
      } catch (error) {
        lookIn(lookEveryMs); // the database is away; it will be back
        throw error;
      } finally {
        isSending = false;
      }
    });
  }

  /** At the time the next one is due, and once in a while for those of other processes. */
  async function lookAgain(): Promise<void> {
    const due = await nextLetterDue(db);
    const waitMs = due === null ? lookEveryMs : Date.parse(due) - now().getTime();
    lookIn(Math.min(lookEveryMs, Math.max(1000, waitMs)));
  }

  function lookIn(ms: number): void {
    if (timer !== null) clearTimeout(timer);
    timer = isClosed ? null : setTimeout(wake, ms).unref();
  }

  wake(); // what an earlier process left

  return {
    queue,
    wake,
    send(letter) {
      background.run('queueing a letter', async () => {
        await queue(db, letter);
        wake();
      });
    },
    close() {
      isClosed = true;
      if (timer !== null) clearTimeout(timer);
      post.close();
    },
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
