/**
 * Calls each endpoint once for each of its database queries, and makes that query fail (REL-28): the client gets an error, no data
 * changes, and the next call succeeds.
 */
import { type Endpoint, endpoints } from '@lamina/contract';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { jobNames } from '../../jobs/jobs.ts';
import { type DatabaseKind, databaseKinds } from '../../store/testing/test-database.ts';
import { type FailingDatabase, failingDatabase } from '../../testing/failing-database.ts';
import { expectedStatus, expectedStatuses, withLabels } from '../../testing/permission-matrix.ts';
import { type Answer, type TestServer, testServer } from '../../testing/test-server.ts';
import { type WellFormedRequest, wellFormedRequests } from '../../testing/well-formed-requests.ts';

let server: TestServer;
let database: FailingDatabase;

const auditTables = ['audit', 'audit_chain'];
/** By endpoint: tables that keep changes of a call that fails. */
const tablesThatStayChanged: Readonly<Record<string, readonly string[]>> = {
  // A repeated call continues where the failed one stopped.
  beginUpload: ['uploads', ...auditTables],
  finishUploadFile: ['upload_files'],
  sendResultFile: ['result_layers'],
  // The export is recorded in the audit log before the first byte is sent.
  exportAudit: auditTables,
  exportCatalogue: auditTables,
};
/** The first request for pixels with a bearer token opens an image session, before it looks for the pixels. */
const pixelTables = ['image_sessions', 'image_openings', ...auditTables];

function mayChange(name: string, table: string): boolean {
  const isProtocol = (endpoints[name] as Endpoint).cors !== undefined;
  return (tablesThatStayChanged[name] ?? (isProtocol ? pixelTables : [])).includes(table);
}

/** Tables that are not compared, because the server also writes them in other transactions than that of the call. */
const separatelyWrittenTables = new Set(['throttles', 'locks']);

/** Names of the compared tables by kind of database. They are kept, because listing them takes as long as reading all tables. */
const tableNames = new Map<DatabaseKind, readonly string[]>();

async function listTables(kind: DatabaseKind): Promise<readonly string[]> {
  const known = tableNames.get(kind);
  if (known !== undefined) return known;
  const tables = await server.services.db.introspection.getTables();
  const names = tables.flatMap(({ name, schema = 'public' }) =>
    separatelyWrittenTables.has(name) || schema !== 'public' ? [] : name,
  );
  tableNames.set(kind, names);
  return names;
}

/** Returns all stored data by table. */
async function storedRows(kind: DatabaseKind): Promise<ReadonlyMap<string, string>> {
  const names = await listTables(kind);
  return kind === 'SQLite' ? storedInSqlite(names) : storedInPostgres(names);
}

async function storedInSqlite(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = new Map<string, string>();
  for (const name of names) {
    const all = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(
      server.services.db,
    );
    const lines = all.rows.map((row) => JSON.stringify({ ...row, last_used_at: undefined }));
    rows.set(name, lines.sort().join());
  }
  return rows;
}

/** Reads all tables with one query, because the round trip of a query takes longer than reading all tables. */
async function storedInPostgres(names: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const queries = names.map((name) => {
    const row = sql`(to_jsonb(t) - 'last_used_at')::text`;
    return sql`select ${sql.lit(name)} as name, string_agg(${row}, ',' order by ${row}) as rows from ${sql.table(name)} t`;
  });
  const { rows } = await sql<{ name: string; rows: string | null }>`
    ${sql.join(queries, sql` union all `)}
  `.execute(server.services.db);
  return new Map(rows.map(({ name, rows: content }) => [name, content ?? '']));
}

/** Resolves when no background task is running. */
async function idle(): Promise<void> {
  await server.services.uploads.settled();
  await server.services.background.idle();
  for (const name of jobNames) await server.services.jobs.idle(name);
}

/** Media types of responses that are streamed while the database is read. */
const streamed: ReadonlySet<unknown> = new Set(['text/csv', 'application/geo+json', 'text/event-stream']);
/** Stands for the response of a stream that was cut off: its status was sent before the query failed. */
const cutOff: Answer = { status: 503, body: { code: 'unavailable' }, headers: {} };

async function ask(
  endpoint: Endpoint,
  { url, payload, query, headers }: WellFormedRequest,
  token: string | null,
): Promise<Answer> {
  try {
    return await server.as(token).inject({
      method: endpoint.method,
      url,
      ...(payload && { payload }),
      ...(query && { query }),
      ...(headers && { headers }),
    });
  } catch (error) {
    if (!streamed.has(endpoint.response)) throw error;
    expect(error).toMatchObject({ message: 'response destroyed before completion' });
    return cutOff;
  }
}

/** Whether every query also fails on PostgreSQL, as in `npm run fuzz`. A broken connection costs a tenth of a second and more. */
const failsEveryQuery = process.env.FAILING_QUERIES === 'all';

/**
 * Returns the numbers of the queries that have to fail, from 1. On SQLite, every query fails. PostgreSQL runs the same code, so there the
 * first two queries, every fourth one after them and the last one fail: usually `begin` and `commit` are among them.
 */
function failingNumbers(kind: DatabaseKind, queryCount: number): number[] {
  const all = Array.from({ length: queryCount }, (_, index) => index + 1);
  if (kind === 'SQLite' || failsEveryQuery) return all;
  return all.filter((n) => n === 1 || n % 4 === 2 || n === queryCount);
}

describe.each(databaseKinds)('a single failing database query (database: %s)', (kind) => {
  beforeAll(() => {
    database = failingDatabase(kind);
  });
  afterAll(() => database.restore());
  // All data is read before and after each call, so each endpoint starts with an empty database.
  beforeEach(async () => {
    server = await testServer({ database: kind, isShared: true, config: { logLevel: 'silent' } });
    await server.fixtures.admin(); // so that no other administrator is the last one
  });
  afterEach(() => server.close());

  // Endpoints that only read run the same code on both databases, so PostgreSQL tests only the other ones.
  const names = Object.keys(expectedStatuses).filter(
    (name) => kind === 'SQLite' || endpoints[name]?.method !== 'GET',
  );

  it.each(withLabels(names))(
    'makes %s return 503 without changing stored data, and the next call succeeds',
    async (_, name) => {
      const endpoint = endpoints[name] as Endpoint;
      const good = expectedStatus(name, 'admin');
      const { caller, requestFor } = wellFormedRequests(() => server);
      onTestFinished(() => database.failAt(null));

      /** Prepares the call and sends it; `n` is the number of its query that fails, or null. */
      async function sendWithFailure(n: number | null) {
        const who = await caller('admin');
        const request = await requestFor(name, who, false);
        await idle(); // background tasks of the preparation
        const before = await storedRows(kind);
        database.failAt(n);
        const answer = await ask(endpoint, request, who.token);
        const [query, queryCount] = [database.failed(), database.queryCount()];
        database.failAt(null);
        await idle();
        return { who, request, before, answer, query, queryCount };
      }

      const { answer: undisturbed, queryCount } = await sendWithFailure(null);
      expect(undisturbed.status).toBe(good);
      expect(queryCount).toBeGreaterThan(0);
      for (const n of failingNumbers(kind, queryCount)) {
        const { who, request, before, answer, query } = await sendWithFailure(n);
        const { code = null } = (answer.body || {}) as { code?: string };
        if (answer.status === good) continue; // the call does not need this query
        const now = await storedRows(kind);
        const changed = [...now.keys()].filter(
          (table) => now.get(table) !== before.get(table) && !mayChange(name, table),
        );
        expect({ query, status: answer.status, code, changed }).toEqual({
          query,
          status: 503,
          code: 'unavailable',
          changed: [],
        });
        expect([n, (await ask(endpoint, request, who.token)).status]).toEqual([n, good]);
      }
    },
  );
});
