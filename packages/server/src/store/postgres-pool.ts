/**
 * PostgreSQL connection pools. The pool for requests fails fast: queries to an unreachable server fail within two
 * seconds, and a broken connection affects only the query that uses it. A watchdog detects a server that does not
 * respond although the connection is open, because a network that drops packets or a suspended server causes no error.
 * Queries of the pool for migrations have no time limit.
 */
import { AppError } from '@lamina/contract';
import type { PostgresPool, PostgresPoolClient } from 'kysely';
import pg from 'pg';

/** Maximum number of connections per process. PostgreSQL accepts 100 by default, so several processes fit. */
const maxConnections = 10;
/** Time limit for opening a connection, or for waiting until one of the pool is free. */
const connectWithinMs = 1500;
/** After this time without a response, the pool probes whether the server is reachable. */
const probeAfterSilenceMs = 700;
/** Interval at which the watchdog checks the pending queries, which are those without a response. */
const checkEveryMs = 200;
/** Time limit of a probe, which opens a new connection. */
const probeWithinMs = 800;
/**
 * Time after which the watchdog cancels a query. The PostgreSQL server cancels statements earlier, after 30 s, so a query without a
 * response after this time has lost its connection.
 */
const queryTimeoutMs = 35_000;
/** Limits in milliseconds that the PostgreSQL server enforces, so that a hanging client does not hold locks. */
const serverLimits = {
  statement_timeout: 30_000,
  lock_timeout: 5000,
  idle_in_transaction_session_timeout: 30_000,
};

export interface MonitoredPool extends PostgresPool {
  /** Number of connections in use. */
  inUse(): number;
}

/** Opens the pool that requests use. @param url postgres://… */
export function openPostgresPool(url: string, poolSize = maxConnections): MonitoredPool {
  const pool = new pg.Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: connectWithinMs,
    keepAlive: true,
    ...serverLimits,
  });
  // The pool emits 'error' when an idle connection breaks. It opens another one when needed, so no action is required.
  pool.on('error', () => undefined);
  // A client emits 'error' when its connection breaks during a query. The query fails anyway, but without this listener the
  // event would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  const watchdog = createWatchdog(() => respondsToConnection(url));
  const guardedClients = new WeakMap<pg.PoolClient, PostgresPoolClient>();

  return {
    options: {}, // required by Kysely's type
    inUse: () => pool.totalCount - pool.idleCount,
    async connect() {
      if (watchdog.isUnreachable()) throw unavailable('The database does not respond.');
      let client: pg.PoolClient;
      try {
        client = await pool.connect();
      } catch (cause) {
        throw unavailable(cause);
      }
      const guarded = guardedClients.get(client) ?? guardClient(client, watchdog);
      guardedClients.set(client, guarded);
      return guarded;
    },
    async end() {
      watchdog.end();
      await pool.end();
    },
  };
}

/** Opens a pool without time limits for queries, for the migrations at the start of the server. */
export function openBackgroundPostgresPool(url: string): pg.Pool {
  const pool = new pg.Pool({ connectionString: url, max: 2, connectionTimeoutMillis: 5000 });
  // Without these listeners, a broken connection would end the process (see `openPostgresPool`).
  pool.on('error', () => undefined);
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Wraps a client so that the watchdog observes its queries, and the pool does not reuse a lost connection. */
function guardClient(client: pg.PoolClient, watchdog: Watchdog): PostgresPoolClient {
  let isConnectionLost = false;

  async function query(text: string, values: readonly unknown[]): Promise<unknown> {
    if (isConnectionLost) throw unavailable('The connection to the database is lost.');
    try {
      return await watchdog.awaitQuery(client.query(text, [...values]));
    } catch (error) {
      // After an error that the server has sent, the connection works, unless the error is fatal: the server then closes it.
      const isServerResponse = error instanceof pg.DatabaseError;
      isConnectionLost = !isServerResponse || error.severity === 'FATAL';
      throw isServerResponse ? error : unavailable(error);
    }
  }

  return {
    query: query as PostgresPoolClient['query'],
    release: (destroy = false) => client.release(isConnectionLost || destroy), // true closes the connection
  };
}

interface Watchdog {
  /** Waits for the result of a query. Also rejects when a probe fails, or after `queryTimeoutMs`. */
  awaitQuery<T>(query: Promise<T>): Promise<T>;
  /** Returns whether the last probe failed. The probe is repeated until it succeeds. */
  isUnreachable(): boolean;
  end(): void;
}

interface PendingQuery {
  /** Start of the query, as returned by `performance.now()`. */
  readonly startedAt: number;
  /** Rejects the promise of the query. Sends nothing to the PostgreSQL server. */
  readonly cancel: () => void;
}

/**
 * Creates a watchdog for queries. When the server has not responded for `probeAfterSilenceMs`, the watchdog probes the
 * server, and cancels the pending queries if the probe fails.
 */
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
    for (const query of pending) if (now - query.startedAt > queryTimeoutMs) query.cancel();
    const isSilent =
      now - lastResponseAt > probeAfterSilenceMs &&
      pending.values().some(({ startedAt }) => now - startedAt > probeAfterSilenceMs);
    if (isUnreachable || isSilent) void probeServer(now);
    else if (pending.size === 0) stop();
  }

  async function probeServer(probeStartedAt: number): Promise<void> {
    if (isProbing) return;
    isProbing = true;
    // A response to a pending query during the probe also shows that the server is reachable.
    const isReachable = (await probe()) || lastResponseAt > probeStartedAt;
    isProbing = false;
    isUnreachable = !isReachable;
    if (isReachable) lastResponseAt = performance.now();
    // Queries that started during the probe stay pending; the next probe decides about them.
    else for (const query of pending) if (query.startedAt <= probeStartedAt) query.cancel();
  }

  return {
    awaitQuery<T>(query: Promise<T>) {
      return new Promise<T>((resolve, reject) => {
        const pendingQuery: PendingQuery = {
          startedAt: performance.now(),
          cancel() {
            pending.delete(pendingQuery);
            reject(new Error('The database does not respond.'));
          },
        };
        pending.add(pendingQuery);
        timer ??= setInterval(check, checkEveryMs).unref();
        query.then(
          (result) => {
            pending.delete(pendingQuery);
            lastResponseAt = performance.now();
            resolve(result);
          },
          (error: unknown) => {
            pending.delete(pendingQuery);
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

/** Returns whether the server responds to a new connection in time. An error such as "too many connections" is a response, too. */
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
