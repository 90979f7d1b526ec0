import fs from 'node:fs';
import path from 'node:path';
import type { Config } from '../config.ts';
import { type DatabaseHealth, examineDatabase } from '../store/database-health.ts';
import { type Finding, note, ok, reasonOf, within, withoutPasswords, wrong } from './finding.ts';

/** `pragma integrity_check` reads the whole file. */
const answersWithinMs = 120_000;
/** Sessions and codes of a second step are compared with the time of day. */
const mostClockSkewMs = 2000;
/** Each process takes ten, its queue of work three, and PostgreSQL keeps some for itself. */
const connectionsOfProcess = 15;

export async function checkDatabase(config: Pick<Config, 'databaseUrl' | 'dataDir'>): Promise<Finding[]> {
  const { databaseUrl: url } = config;
  const file = path.join(config.dataDir, 'lamina.db');
  if (url === null && !fs.existsSync(file)) {
    return [ok('Database', `SQLite, ${file}: is made at the first start.`)];
  }
  const where = url === null ? `SQLite, ${file}` : `PostgreSQL, ${nameOf(url)}`;
  let health: DatabaseHealth;
  try {
    health = await within(answersWithinMs, examineDatabase({ url, file: url === null ? file : null }));
  } catch (error) {
    return [
      wrong(
        'Database',
        `${where}, cannot be opened: ${reasonOf(error)}.`,
        url === null
          ? 'See that the file belongs to the user that runs Lamina. If it is damaged, restore the last backup.'
          : 'See that PostgreSQL runs, that DATABASE_URL names its host, port, database, user and password, and that pg_hba.conf lets this machine in.',
      ),
    ];
  }
  return [told(health, where), ...clockOf(health), ...connectionsOf(health), ...slidesOf(health)];
}

function told(health: DatabaseHealth, where: string): Finding {
  const { version, damage, pendingMigrations: pending, unknownMigrations: unknown, isEmpty } = health;
  if (damage.length > 0) {
    return wrong(
      'Database',
      `${where}, is damaged: ${damage.slice(0, 3).join('; ')}.`,
      'Stop Lamina, keep a copy of the file, and restore the last backup (docs/operate.md).',
    );
  }
  if (unknown.length > 0) {
    return wrong(
      'Database',
      `${where}, was written by a newer version of Lamina (${unknown.at(-1)}).`,
      'Start that version again, or restore a backup that this version has made.',
    );
  }
  if (isEmpty)
    return ok('Database', `${where}, version ${version}: empty, its tables are made at the first start.`);
  if (pending.length > 0) {
    return note(
      'Database',
      `${where}, version ${version}: the next start changes its tables (${pending.join(', ')}).`,
      'Make a backup before, if you have not: there is no way back but that.',
    );
  }
  const sound = health.engine === 'SQLite' ? ', and the file is sound' : '';
  return ok('Database', `${where}, version ${version}: its tables are up to date${sound}.`);
}

function clockOf({ clockAheadMs }: DatabaseHealth): Finding[] {
  if (clockAheadMs === null) return [];
  const seconds = `${(Math.abs(clockAheadMs) / 1000).toFixed(1)} s`;
  if (Math.abs(clockAheadMs) <= mostClockSkewMs)
    return [ok('Clock', `As that of the database, to ${seconds}.`)];
  const direction = clockAheadMs > 0 ? 'behind' : 'ahead of';
  return [
    wrong(
      'Clock',
      `This machine's clock is ${seconds} ${direction} that of the database.`,
      'Let a time service keep all machines right (chrony or systemd-timesyncd): sessions end by the clock.',
    ),
  ];
}

function connectionsOf({ mostConnections }: DatabaseHealth): Finding[] {
  if (mostConnections === null) return [];
  const processes = Math.floor(mostConnections / connectionsOfProcess);
  const says = `PostgreSQL lets in ${mostConnections} connections: enough for ${processes} processes of Lamina.`;
  return [
    processes < 3
      ? note(
          'Connections',
          says,
          `Raise max_connections to ${connectionsOfProcess} for each process, all servers and their WORKERS counted.`,
        )
      : ok('Connections', says),
  ];
}

function slidesOf({ slides }: DatabaseHealth): Finding[] {
  if (slides === null) return [];
  const { ready = 0, failed = 0, pending = 0 } = slides;
  const says = `${ready} can be shown, ${pending} wait to be read, ${failed} could not be read.`;
  return [
    failed === 0
      ? ok('Catalogue', says)
      : note(
          'Catalogue',
          says,
          'Administrators see which, and why, in the admin panel; a file that is replaced is read again by itself.',
        ),
  ];
}

/** Host and database, never user or password. */
function nameOf(url: string): string {
  return URL.canParse(url)
    ? withoutPasswords(`${new URL(url).host}${new URL(url).pathname}`)
    : 'at an address that cannot be read';
}
