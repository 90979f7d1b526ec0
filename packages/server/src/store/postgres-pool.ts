/**
 * A PostgreSQL connection pool with fast failure: requests to an unreachable server fail within two seconds,
 * and a broken connection affects only the query that uses it.
 */
import { AppError } from '@lamina/contract';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** PostgreSQL accepts a hundred connections by default, which leaves enough for several processes. */
const maxConnections = 10;
/** Time limit for connecting, or for a connection from the pool. */
const connectWithinMs = 1500;
/** After this time without a response, the pool probes whether the server is reachable. */
const probeAfterSilenceMs = 700;
const checkEveryMs = 200;
const probeWithinMs = 800;
/**
 * Time limit of a query; the server's statement timeout comes before, so a longer query has lost its
 * connection.
 */
const queryTimeoutMs = 35_000;
/** Limits that the server enforces, so that a hanging client does not hold locks. */
const serverLimits = {
  statement_timeout: 30_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 30_000,
};

export interface MonitoredPool extends PostgresPool {
  /** Number of connections in use. */
  inUse(): number;
}

/** @param url postgres://… */
export function openPostgresPool(url: string, most = maxConnections): MonitoredPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: most,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    ...serverLimits,
  });
  // An idle connection broke; the pool opens another one.
  pool.on('error', () => undefined);
  // A connection in use broke: its query fails, and the client emits 'error' too, which would end the process
  // if unhandled.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const watch = createWatchdog(() => respondsToConnection(url));
  const guardedClients = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  return {
    options: {},
    inUse: () => pool.totalCount - pool.idleCount,
    async connect() {
      if (watch.isUnreachable()) throw unavailable('The database does not respond.');
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (cause) {
        throw unavailable(cause);
      }
      const guarded = guardedClients.get(client) ?? guardClient(client, watch);
      guardedClients.set(client, guarded);
      return guarded;
    },
    async end() {
      watch.end();
      await pool.end();
    },
  };
}

/** Opens a pool without time limits, for migrations at the start. */
export function openBackgroundPostgresPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000 });
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Wraps a client so that it is not reused after a failure. */
function guardClient(client: pg.PoolClient, watch: Watchdog): PostgresPoolClient {
  let isLost = false;

  async function query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (isLost) throw unavailable('The connection to the database is lost.');
    try {
      return await watch.awaitQuery(client.query(text, [...values]));
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

interface Watchdog {
  /** Awaits a query; rejects when the server turns out to be unreachable. */
  awaitQuery<T>(query: Promise<T>): Promise<T>;
  /** Whether the last probe failed; the probe is repeated until it succeeds. */
  isUnreachable(): boolean;
  end(): void;
}

interface PendingQuery {
  /** By `performance.now()`. */
  readonly since: number;
  readonly cancel: () => void;
}

/** Detects silence: a network that drops packets, or a suspended server, causes no error. */
function createWatchdog(probe: () => Promise<boolean>): Watchdog {
  const pending = new Set<PendingQuery>();
  let lastResponseAt = performance.now();
  let isUnreachable = false;
  let isProbing = false;
  let timer: NodeJS.Timeout | null = null;

  function stop(): void {
    if (timer !== null) clearInterval(timer);
    timer = null;
  }

  function check(): void {
    const now = performance.now();
    for (const pendingQuery of pending) if (now - pendingQuery.since > queryTimeoutMs) pendingQuery.cancel();
    const isSilent =
      now - lastResponseAt > probeAfterSilenceMs &&
      pending.values().some(({ since }) => now - since > probeAfterSilenceMs);
    if (isUnreachable || isSilent) void probeServer(now);
    else if (pending.size === 0) stop();
  }

  async function probeServer(askedAt: number): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    const isReachable = (await probe()) || lastResponseAt > askedAt;
    isProbing = false;
    isUnreachable = !isReachable;
    if (isReachable) lastResponseAt = performance.now();
    else for (const pendingQuery of pending) if (pendingQuery.since <= askedAt) pendingQuery.cancel();
  }

  return {
    awaitQuery<T>(query: Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const ownQuery: PendingQuery = {
          since: performance.now(),
          cancel() {
            pending.delete(ownQuery);
            reject(new Error('The database does not respond.'));
          },
        };
        pending.add(ownQuery);
        timer ??= setInterval(check, checkEveryMs).unref();
        query.then(
          (answer) => {
            pending.delete(ownQuery);
            lastResponseAt = performance.now();
            resolve(answer);
          },
          (error: unknown) => {
            pending.delete(ownQuery);
            if (error instanceof pg.DatabaseError) lastResponseAt = performance.now();
            reject(error);
          },
        );
      });
    },
    isUnreachable: () => isUnreachable,
    end: stop,
  };
}

/** Whether the server responds to a new connection in any way; "too many connections" is a response. */
async function respondsToConnection(url: string): Promise<boolean> {
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
