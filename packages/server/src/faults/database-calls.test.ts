/**
 * Each question to the database fails in turn, at every call of the API (R28): the caller hears that it did not work,
 * nothing has changed, and the next call works.
 */
import { type Endpoint, endpoints } from '@lamina/contract';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { jobNames } from '../jobs/jobs.ts';
import { type FailingDatabase, failingDatabase } from '../testing/failing-database.ts';
import { answerFor, answers } from '../testing/permission-matrix.ts';
import { type Answer, type TestServer, testServer } from '../testing/test-server.ts';
import { type WellFormedRequest, wellFormedRequests } from '../testing/well-formed-requests.ts';

let server: TestServer;
let database: FailingDatabase;
beforeAll(async () => {
  database = failingDatabase();
  server = await testServer({ isShared: true, config: { logLevel: 'silent' } });
  await server.given.admin(); // so that no other is the last
});
afterAll(async () => {
  database.restore();
  await server.close();
});

const trail = ['audit', 'audit_chain'];
/** What stays of a call that did not work, and has to. */
const stays: Readonly<Record<string, readonly string[]>> = {
  // Made again, they go on where they were.
  beginUpload: ['uploads', ...trail],
  finishUploadFile: ['upload_files'],
  // That something is taken away is on record before the first line of it is sent.
  exportAudit: trail,
  exportCatalogue: trail,
};

const { asker, requestFor } = wellFormedRequests(() => server);

/**
 * What is written down beside the change that was asked for, each in a change of its own: how often something was
 * tried, that somebody was here, how often a lock was taken.
 */
const beside = new Set(['throttles', 'locks']);

/** Everything that is stored, by the names of the tables. */
async function stored(): Promise<ReadonlyMap<string, string>> {
  const { db } = server.services;
  const tables = await db.introspection.getTables();
  const rows = new Map<string, string>();
  for (const { name } of tables) {
    if (beside.has(name)) continue;
    const all = await sql<Record<string, unknown>>`select * from ${sql.table(name)}`.execute(db);
    const lines = all.rows.map((row) => JSON.stringify({ ...row, last_used_at: undefined }));
    rows.set(name, lines.sort().join());
  }
  return rows;
}

/** When nothing is under way that nobody waits for. */
async function idle(): Promise<void> {
  await server.services.uploads.settled();
  await server.services.background.idle();
  for (const name of jobNames) await server.services.jobs.idle(name);
}

/** A file that is being sent can only be cut off, and the browser says that it did not come whole. */
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
    if (endpoint.response !== 'text/csv') throw error;
    expect(error).toMatchObject({ message: 'response destroyed before completion' });
    return cutOff;
  }
}

/** More than any call asks. */
const most = 100;

describe('every question of every call', () => {
  it.each(Object.keys(answers))('%s', async (name) => {
    const endpoint = endpoints[name] as Endpoint;
    const good = answerFor(name, 'admin');
    onTestFinished(() => database.failAt(null));
    let n = 0;
    for (let isThrough = false; !isThrough && n < most; ) {
      n++;
      const who = await asker('admin');
      const request = await requestFor(name, who, false);
      await idle(); // what the preparation left to be done
      const before = await stored();
      database.failAt(n);
      const answer = await ask(endpoint, request, who.token);
      const asked = database.failed();
      isThrough = asked === null;
      database.failAt(null);
      await idle();

      const { code = null } = (answer.body || {}) as { code?: string };
      if (answer.status === good) continue; // it did without the answer
      const now = await stored();
      const changed = [...now.keys()].filter(
        (table) => now.get(table) !== before.get(table) && !stays[name]?.includes(table),
      );
      expect({ asked, status: answer.status, code, changed }).toEqual({
        asked,
        status: 503,
        code: 'unavailable',
        changed: [],
      });
      expect([n, (await ask(endpoint, request, who.token)).status]).toEqual([n, good]);
    }
    expect(n).toBeLessThan(most);
    expect(n).toBeGreaterThan(1);
  });
});
