/** How a database is, as it is: nothing of it is changed. */
import { sql } from 'kysely';
import { connectDatabase, type DatabaseLocation, migrations } from './database.ts';
import { isPostgres } from './dialects.ts';
import { executedMigrations } from './migrating.ts';

export interface DatabaseHealth {
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** As it calls itself, e.g. `15.18`. */
  readonly version: string;
  /** Changes of the tables that the next start makes; all of them where there is nothing yet. */
  readonly pendingMigrations: readonly string[];
  /** Changes of the tables that this program does not know: a newer one has made them. */
  readonly unknownMigrations: readonly string[];
  readonly isEmpty: boolean;
  /** What is wrong inside; empty when nothing is, or where the server sees to it itself. */
  readonly damage: readonly string[];
  /** How far its clock is ahead of ours, in milliseconds; null where it is ours. */
  readonly clockAheadMs: number | null;
  /** Connections that it lets in, of everybody; null where nobody counts. */
  readonly mostConnections: number | null;
  /** Entries of the catalogue by status; null while tables are missing. */
  readonly slides: Readonly<Record<string, number>> | null;
}

/** @throws Error with what keeps it from being opened */
export async function examineDatabase(location: DatabaseLocation): Promise<DatabaseHealth> {
  const db = await connectDatabase(location);
  try {
    const executed = await executedMigrations(db);
    const known = Object.keys(migrations).sort();
    const pendingMigrations = known.filter((name) => !executed.includes(name));
    const answered = isPostgres(db) ? await askPostgres(db) : await askSqlite(db);
    return {
      ...answered,
      pendingMigrations,
      unknownMigrations: executed.filter((name) => !known.includes(name)),
      isEmpty: executed.length === 0,
      slides: pendingMigrations.length === 0 ? await countSlides(db) : null,
    };
  } finally {
    await db.destroy();
  }
}

type Opened = Awaited<ReturnType<typeof connectDatabase>>;

async function askPostgres(db: Opened) {
  const askedAt = Date.now();
  const { rows } = await sql<{ version: string; connections: string; now: string }>`select
      current_setting('server_version') as version,
      current_setting('max_connections') as connections,
      extract(epoch from clock_timestamp()) * 1000 as now`.execute(db);
  const middle = (askedAt + Date.now()) / 2;
  const [row] = rows;
  return {
    engine: 'PostgreSQL' as const,
    version: row?.version ?? '',
    damage: [],
    clockAheadMs: Number(row?.now) - middle,
    mostConnections: Number(row?.connections),
  };
}

async function askSqlite(db: Opened) {
  const { rows: versions } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  const told = rows.map(({ integrity_check: line }) => line);
  return {
    engine: 'SQLite' as const,
    version: versions[0]?.version ?? '',
    damage: told.filter((line) => line !== 'ok'),
    clockAheadMs: null,
    mostConnections: null,
  };
}

async function countSlides(db: Opened): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('images')
    .select((eb) => ['status', eb.fn.countAll().as('count')])
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .groupBy('status')
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}
