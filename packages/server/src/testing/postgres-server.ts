/** A separate PostgreSQL server for a test file, so that its tests can crash and pause the server. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  newDatabase(): Promise<string>;
  /** Kills the server; all connections break. */
  crash(): Promise<void>;
  restart(): Promise<void>;
  /** Pauses the server, as if its machine no longer responded: connections stay open without a response. */
  pause(): Promise<void>;
  resume(): void;
  /** Runs a query on a separate connection. */
  ask<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** Opens a connection, which the test closes. */
  connect(): Promise<pg.Client>;
  stop(): Promise<void>;
}

/** The result of `startPostgres` in scripts/services/postgres.ts. */
interface StartedServer {
  readonly url: string;
  readonly dataFolder: string;
  crash(): Promise<unknown>; // all connections break
  restart(): Promise<unknown>; // starts the server again after `crash`
  stop(): Promise<void>;
}

// Imported at run time, because scripts/ is not part of this package's TypeScript project.
const script = new URL('../../../../scripts/services/postgres.ts', import.meta.url).href;

/** Starts the server. @param settings of PostgreSQL, as `name=value` @returns null, after printing the reason, if it cannot be started */
export async function startPostgresServer(settings: readonly string[] = []): Promise<PostgresServer | null> {
  const { startPostgres } = (await import(script)) as {
    startPostgres(settings: readonly string[]): Promise<StartedServer | null>;
  };
  const started = await startPostgres(settings);
  if (started === null) return null;
  const { url: serverUrl, dataFolder } = started;
  let pausedPids: number[] = [];
  let databaseCount = 0;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: serverUrl });
    client.on('error', () => undefined); // without a listener, a broken connection would end the test process
    await client.connect();
    return client;
  }

  async function ask<Row extends pg.QueryResultRow>(
    text: string,
    values: readonly unknown[] = [],
  ): Promise<Row[]> {
    const client = await connect();
    try {
      return (await client.query<Row>(text, [...values])).rows;
    } finally {
      await client.end();
    }
  }

  return {
    connect,
    ask,
    async newDatabase() {
      const name = `faults_${++databaseCount}`;
      await ask(`create database ${name}`);
      const url = new URL(serverUrl);
      url.pathname = `/${name}`;
      return url.href;
    },
    async crash() {
      await started.crash();
    },
    async restart() {
      await started.restart();
    },
    async pause() {
      const backends = await ask<{ pid: number }>('select pid from pg_stat_activity where pid is not null');
      const [mainPid] = readFileSync(path.join(dataFolder, 'postmaster.pid'), 'utf8').split('\n');
      const pids = [Number(mainPid), ...backends.map(({ pid }) => pid)];
      // The process of the query above has already ended, so it gets no signal.
      pausedPids = pids.filter((pid) => sendSignal(pid, 'SIGSTOP'));
    },
    resume() {
      for (const pid of pausedPids) sendSignal(pid, 'SIGCONT');
      pausedPids = [];
    },
    async stop() {
      for (const pid of pausedPids) sendSignal(pid, 'SIGCONT'); // a paused process would not end
      await started.stop();
    },
  };
}

/** Sends a signal to a process. @returns false when the process no longer exists */
function sendSignal(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
