/**
 * Connections to PostgreSQL that nobody waits for in vain: whoever asks a server that is gone is told within two
 * seconds, and a connection that dies, in use or not, harms nobody but its own question.
 */
import { AppError } from '@lamina/contract';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** PostgreSQL lets in a hundred; so several processes have room beside one another. */
const mostConnections = 10;
/** To be let in, or to be given a connection that others use, takes no longer. */
const connectWithinMs = 1500;
/** A question without an answer for so long makes us ask whether the server is there at all. */
const silenceMs = 700;
const lookEveryMs = 200;
const probeWithinMs = 800;
/** The server ends a statement before; it is its connection that is lost then. */
const longestMs = 35_000;
/** Kept by the server, so that nothing that hangs holds what others wait for. */
const limitsOfServer = {
  statement_timeout: 30_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 30_000,
};

export interface WatchedPool extends PostgresPool {
  /** Connections that somebody has. */
  inUse(): number;
}

/** @param url postgres://… */
export function openPostgresPool(url: string, most = mostConnections): WatchedPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    ...limitsOfServer,
  });
  // A connection that dies while nobody uses it: the pool opens another, and nothing else has happened.
  pool.on('error', () => undefined);
  // One that dies in use tells whoever asked. It says so once more, and what nobody hears would end the program.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const watch = watchForSilence(() => doesAnswer(url));
  const known = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  return {
    options: {},
    inUse: () => pool.totalCount - pool.idleCount,
    async connect() {
      if (watch.isAway()) throw unavailable('The database has not answered for a while.');
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (cause) {
        throw unavailable(cause);
      }
      const guarded = known.get(client) ?? guard(client, watch);
      known.set(client, guarded);
      return guarded;
    },
    async end() {
      watch.end();
      await pool.end();
    },
  };
}

/** Of one who waits for nobody else, as long as it takes: for changes of the tables at the start. */
export function openPatientPostgresPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** A connection that is not used again once it has failed. */
function guard(client: pg.PoolClient, watch: Watch): PostgresPoolClient {
  let isLost = false;

  async function query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (isLost) throw unavailable('The connection to the database is lost.');
    try {
      return await watch.answerTo(client.query(text, [...values]));
    } catch (error) {
      const isAnswer = error instanceof pg.DatabaseError;
      isLost = !isAnswer || error.severity === 'FATAL';
      throw isAnswer ? error : unavailable(error);
    }
  }

  return {
    query: query as PostgresPoolClient['query'],
    release: (destroy = false) => client.release(isLost || destroy),
  };
}

interface Watch {
  /** What a question comes to; rejected when the server turns out to be gone. */
  answerTo<T>(asked: Promise<T>): Promise<T>;
  /** Whether it was gone a moment ago; it is asked again and again until it answers. */
  isAway(): boolean;
  end(): void;
}

interface Waiting {
  /** By `performance.now`. */
  readonly since: number;
  readonly giveUp: () => void;
}

/** A network that swallows what it is given, or a server that stands still, says nothing: silence has to be noticed. */
function watchForSilence(probe: () => Promise<boolean>): Watch {
  const waiting = new Set<Waiting>();
  let heardAt = performance.now();
  let isAway = false;
  let isProbing = false;
  let timer: NodeJS.Timeout | null = null;

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  function look(): void {
    const now = performance.now();
    for (const each of waiting) if (now - each.since > longestMs) each.giveUp();
    const isSilent =
      now - heardAt > silenceMs && waiting.values().some(({ since }) => now - since > silenceMs);
    if (isAway || isSilent) void askWhetherThere(now);
    else if (waiting.size === 0) stop();
  }

  async function askWhetherThere(askedAt: number): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const isThere = (await probe()) || heardAt > askedAt;
    isProbing = false;
    isAway = !isThere;
    if (isThere) heardAt = performance.now();
    else for (const each of waiting) if (each.since <= askedAt) each.giveUp();
  }

  return {
    answerTo<T>(asked: Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const mine: Waiting = {
          since: performance.now(),
          giveUp() {
            waiting.delete(mine);
            reject(new Error('The database does not answer.'));
          },
        };
        waiting.add(mine);
        timer ??= setInterval(look, lookEveryMs).unref();
        asked.then(
          (answer) => {
            waiting.delete(mine);
            heardAt = performance.now();
            resolve(answer);
          },
          (error: unknown) => {
            waiting.delete(mine);
            if (error instanceof pg.DatabaseError) heardAt = performance.now();
            reject(error);
          },
        );
      });
    },
    isAway: () => isAway,
    end: stop,
  };
}

/** Whether the server answers a newcomer in any way; that it has no room for one is an answer. */
async function doesAnswer(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: probeWithinMs });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return true;
  } catch (error) {
    return error instanceof pg.DatabaseError;
  } finally {
    void client.end().catch(() => undefined);
  }
}

function unavailable(cause: unknown): AppError {
  return new AppError('unavailable', { cause });
}
