/** A check of `npm run doctor`: the database's state and version, the clock, the number of connections, and the catalogue. */
import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../platform/config.ts';
import { type DatabaseHealth, inspectDatabase } from '../store/database-health.ts';
import { type Finding, note, ok, reasonOf, withoutPasswords, withTimeout, wrong } from './finding.ts';

const timeoutMs = 120_000; // the inspection reads the whole file of an embedded database
/** Maximum difference from the clock of the database. Sessions and one-time codes (TOTP) depend on the clock. */
const maxClockSkewMs = 2000;
/** A process uses ten connections, and three more for its job queue. Another two allow for connections that PostgreSQL reserves. */
const connectionsPerProcess = 15;
/** A connection limit that is not enough for this number of processes gives a finding with the state `note`. */
const recommendedProcesses = 3;

export async function checkDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<Finding[]> {
  const { databaseUrl: url } = config;
  const file = path.join(config.dataDir, 'lamina.db');
  if (url === null && !fs.existsSync(file)) {
    return [ok('Database', `SQLite, ${file}: created at the first start.`)];
  }
  const databaseName = url === null ? `SQLite, ${file}` : `PostgreSQL, ${nameOf(url)}`;
  let health: DatabaseHealth;
  try {
    health = await withTimeout(timeoutMs, inspectDatabase({ url, file: url === null ? file : null }));
  } catch (error) {
    return [
      wrong(
        'Database',
        `${databaseName}, cannot be opened: ${reasonOf(error)}.`,
        url === null
          ? 'Check that the file belongs to the user that runs Lamina. If it is damaged, restore the last backup.'
          : 'Check that PostgreSQL runs, that DATABASE_URL contains host, port, database, user and password, and that pg_hba.conf allows this machine.',
      ),
    ];
  }
  return [
    checkState(health, databaseName),
    ...checkClock(health),
    ...checkConnectionLimit(health),
    ...checkCatalogue(health),
  ];
}

function checkState(health: DatabaseHealth, databaseName: string): Finding {
  const { version, damage, pendingMigrations, unknownMigrations, isEmpty } = health;
  if (damage.length > 0) {
    return wrong(
      'Database',
      `${databaseName}, is damaged: ${damage.slice(0, 3).join('; ')}.`,
      'Stop Lamina, keep a copy of the file, and restore the last backup (docs/backup.md).',
    );
  }
  if (unknownMigrations.length > 0) {
    return wrong(
      'Database',
      `${databaseName}, was written by a newer version of Lamina (${unknownMigrations.at(-1)}).`,
      'Start that version again, or restore a backup that this version has made.',
    );
  }
  if (isEmpty)
    return ok('Database', `${databaseName}, version ${version}: empty; the first start creates the tables.`);
  if (pendingMigrations.length > 0) {
    return note(
      'Database',
      `${databaseName}, version ${version}: the next start changes its tables (${pendingMigrations.join(', ')}).`,
      'Make a backup first: it is the only way to go back.',
    );
  }
  const fileState = health.engine === 'SQLite' ? ', and the file is intact' : '';
  return ok('Database', `${databaseName}, version ${version}: its tables are up to date${fileState}.`);
}

function checkClock({ databaseClockAheadMs }: DatabaseHealth): Finding[] {
  if (databaseClockAheadMs === null) return []; // SQLite, which uses the clock of this machine
  const seconds = `${(Math.abs(databaseClockAheadMs) / 1000).toFixed(1)} s`;
  if (Math.abs(databaseClockAheadMs) <= maxClockSkewMs)
    return [ok('Clock', `Differs from the database's clock by ${seconds}.`)];
  const direction = databaseClockAheadMs > 0 ? 'behind' : 'ahead of'; // positive: the database's clock is ahead
  return [
    wrong(
      'Clock',
      `This machine's clock is ${seconds} ${direction} that of the database.`,
      'Synchronise the clocks of all machines (chrony or systemd-timesyncd). Otherwise sessions expire too early or too late.',
    ),
  ];
}

function checkConnectionLimit({ maxConnections }: DatabaseHealth): Finding[] {
  if (maxConnections === null) return []; // SQLite
  const processes = Math.floor(maxConnections / connectionsPerProcess);
  const message = `PostgreSQL allows ${maxConnections} connections: enough for ${processes} processes of Lamina.`;
  return [
    processes < recommendedProcesses
      ? note(
          'Connections',
          message,
          `Raise max_connections to ${connectionsPerProcess} per process; count all servers and their WORKERS.`,
        )
      : ok('Connections', message),
  ];
}

function checkCatalogue({ slides }: DatabaseHealth): Finding[] {
  if (slides === null) return []; // unknown while migrations are pending
  const { ready = 0, failed = 0, pending = 0 } = slides;
  const message = `${ready} ready, ${pending} waiting to be ingested, ${failed} failed.`;
  return [
    failed === 0
      ? ok('Catalogue', message)
      : note(
          'Catalogue',
          message,
          'The admin panel shows the slides and the reasons; a replaced file is ingested again automatically.',
        ),
  ];
}

/** Returns host and database of a URL, without user and password. A malformed URL may contain them in another part than that for them. */
function nameOf(url: string): string {
  return URL.canParse(url)
    ? withoutPasswords(`${new URL(url).host}${new URL(url).pathname}`)
    : 'at an invalid address';
}
