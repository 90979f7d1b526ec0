/** Inspects a database without changing its data, for the command `npm run doctor`, which checks an installation. */
import { sql } from 'kysely';
import { connectDatabase, type DatabaseLocation, migrations } from './database.ts';
import { isPostgres } from './dialects.ts';
import { executedMigrations } from './migrating.ts';

export interface DatabaseHealth {
  readonly engine: 'SQLite' | 'PostgreSQL';
  /** Version as the database reports it, for example `15.18`. */
  readonly version: string;
  /** Migrations that the next start will run; all of them for an empty database. */
  readonly pendingMigrations: readonly string[];
  /** Executed migrations that this version of the program does not know, because a newer version ran them. */
  readonly unknownMigrations: readonly string[];
  /** Whether no migration has run yet. */
  readonly isEmpty: boolean;
  /** Damage that SQLite's integrity check found; always empty for PostgreSQL, which has no such check. */
  readonly damage: readonly string[];
  /** Milliseconds by which the clock of the database server is ahead of the clock of this machine; null for SQLite. */
  readonly databaseClockAheadMs: number | null;
  /** Connection limit of the database server for all clients; null for SQLite. */
  readonly maxConnections: number | null;
  /** Number of listed catalogue entries by status; null while migrations are pending, because the table may be missing. */
  readonly slides: Readonly<Record<string, number>> | null;
}

/** Opens a database, inspects it, and closes it. @throws Error when the database cannot be opened */
export async function inspectDatabase(location: DatabaseLocation): Promise<DatabaseHealth> {
  const db = await connectDatabase(location);
  try {
    const executedNames = await executedMigrations(db);
    const knownNames = Object.keys(migrations).sort();
    const pendingMigrations = knownNames.filter((name) => !executedNames.includes(name));
    const engineHealth = isPostgres(db) ? await inspectPostgres(db) : await inspectSqlite(db);
    return {
      ...engineHealth,
      pendingMigrations,
      unknownMigrations: executedNames.filter((name) => !knownNames.includes(name)),
      isEmpty: executedNames.length === 0,
      slides: pendingMigrations.length === 0 ? await countSlides(db) : null,
    };
  } finally {
    await db.destroy();
  }
}

type ConnectedDatabase = Awaited<ReturnType<typeof connectDatabase>>;

async function inspectPostgres(db: ConnectedDatabase) {
  const sentAt = Date.now();
  const { rows } = await sql<{ version: string; connections: string; now: string }>`select
      current_setting('server_version') as version,
      current_setting('max_connections') as connections,
      extract(epoch from clock_timestamp()) * 1000 as now`.execute(db);
  // Assumes that the database server read its clock halfway between the request and the response.
  const clockReadAt = (sentAt + Date.now()) / 2;
  const [row] = rows;
  return {
    engine: 'PostgreSQL' as const,
    version: row?.version ?? '',
    damage: [],
    databaseClockAheadMs: Number(row?.now) - clockReadAt,
    maxConnections: Number(row?.connections),
  };
}

async function inspectSqlite(db: ConnectedDatabase) {
  const { rows: versions } = await sql<{ version: string }>`select sqlite_version() as version`.execute(db);
  const { rows } = await sql<{ integrity_check: string }>`pragma integrity_check`.execute(db);
  const checkResults = rows.map(({ integrity_check: line }) => line);
  return {
    engine: 'SQLite' as const,
    version: versions[0]?.version ?? '',
    damage: checkResults.filter((line) => line !== 'ok'),
    databaseClockAheadMs: null,
    maxConnections: null,
  };
}

/** Counts catalogue entries by status, without removed entries and missing files. */
async function countSlides(db: ConnectedDatabase): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('images')
    .select((eb) => ['status', eb.fn.countAll().as('count')])
    .where('removed_at', 'is', null)
    .where('missing_since', 'is', null)
    .groupBy('status')
    .execute();
  return Object.fromEntries(rows.map(({ status, count }) => [status, Number(count)]));
}
