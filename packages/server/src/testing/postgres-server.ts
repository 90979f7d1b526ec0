/** A PostgreSQL server of a test's own, which may be stopped, held still and filled up. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';

export interface PostgresServer {
  /** Creates an empty database and returns its URL. */
  newDatabase(): Promise<string>;
  /** Ends it as a crash does; every connection breaks. */
  halt(): Promise<void>;
  begin(): Promise<void>;
  /** It stands still, as a machine does that does not answer any more: connections stay, nothing is said. */
  holdStill(): Promise<void>;
  letGoOn(): void;
  /** Asks it something, on a connection of the test's own. */
  ask<Row extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<Row[]>;
  /** A connection of the test's own, to be ended by the test. */
  connect(): Promise<pg.Client>;
  stop(): Promise<void>;
}

/** What scripts/services/postgres.ts returns. */
interface Started {
  readonly address: string;
  readonly data: string;
  halt(): Promise<unknown>;
  begin(): Promise<unknown>;
  stop(): Promise<void>;
}

const script = new URL('../../../../scripts/services/postgres.ts', import.meta.url).href;

/** @returns null, with a sentence on the terminal, when this machine has no PostgreSQL */
export async function startPostgresServer(settings: readonly string[] = []): Promise<PostgresServer | null> {
  const { startPostgres } = (await import(script)) as {
    startPostgres(settings: readonly string[]): Promise<Started | null>;
  };
  const started = await startPostgres(settings);
  if (started === null) return null;
  const { address, data } = started;
  let heldStill: number[] = [];
  let databases = 0;

  async function connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: address });
    client.on('error', () => undefined); // the test ends servers and connections
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
      const name = `faults_${++databases}`;
      await ask(`create database ${name}`);
      const url = new URL(address);
      url.pathname = `/${name}`;
      return url.href;
    },
    async halt() {
      await started.halt();
    },
    async begin() {
      await started.begin();
    },
    async holdStill() {
      const backends = await ask<{ pid: number }>('select pid from pg_stat_activity where pid is not null');
      const [main] = readFileSync(path.join(data, 'postmaster.pid'), 'utf8').split('\n');
      heldStill = [Number(main), ...backends.map(({ pid }) => pid)];
      // The one that answered this question has ended with it.
      heldStill = heldStill.filter((pid) => send(pid, 'SIGSTOP'));
    },
    letGoOn() {
      for (const pid of heldStill) send(pid, 'SIGCONT');
      heldStill = [];
    },
    async stop() {
      for (const pid of heldStill) send(pid, 'SIGCONT');
      await started.stop();
    },
  };
}

/** @returns false when there is no such process any more */
function send(pid: number, signal: 'SIGSTOP' | 'SIGCONT'): boolean {
  try {
    return process.kill(pid, signal);
  } catch {
    return false;
  }
}
