/**
 * Tests that changes of accounts in the embedded database, once acknowledged with a response, survive the death of the server
 * process. Server processes receive requests of users and administrators and are killed with SIGKILL at random moments. Afterwards
 * the database must contain every acknowledged change, and each interrupted change entirely or not at all.
 *
 * `DURABILITY=full` (`npm run durability`) makes 10,000 acknowledged writes with 50 kills; the default is 600 writes with 5
 * kills.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../audit/chain-check.ts';
import { askServer, type ServerProcess, startServerProcess } from '../testing/server-process.ts';
import { openDatabase } from './database.ts';

const { kills, writes } =
  process.env.DURABILITY === 'full' ? { kills: 50, writes: 10_000 } : { kills: 5, writes: 600 };
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const concurrentUsers = 8;

/** The requests that were sent for one account. */
interface AccountHistory {
  readonly email: string;
  /** Null until the registration is acknowledged. */
  uid: string | null;
  /** Acknowledged changes as audit actions, in order. */
  readonly done: string[];
  /** Audit action of the request that got no response; the server may have executed it or not. */
  pending: string | null;
}

/** A request that changes an account. */
interface Step {
  /** Audit action of the change. */
  readonly action: string;
  readonly method: string;
  /** Last segment of the path /admin/users/{uid}/… */
  readonly path: string;
  readonly body?: object;
}

const step = (action: string, lastPathSegment: string, body: object = {}, method = 'POST'): Step => ({
  action,
  method,
  path: lastPathSegment,
  body,
});
const approve = step('approved', 'approve');
const suspend = step('suspended', 'suspend');
const deactivate = step('deactivated', 'deactivate');
const promote = step('promoted', 'promote');
const setPassword = step('password-set', 'password', { new_password: 'yepyeni-şifre' }, 'PUT');

/** Sequences of changes of an account by an administrator. Each new account gets the next sequence, cyclically. */
const sequences: readonly (readonly Step[])[] = [
  [approve, suspend, approve, setPassword],
  [approve, promote, suspend, approve],
  [suspend, approve, deactivate, approve, setPassword],
  [setPassword, approve, promote, deactivate],
  [deactivate, approve],
];

/**
 * Registers an account, runs one of the sequences, and deletes every third account.
 *
 * @throws TypeError when the connection breaks, because the server was killed
 */
async function runSequence(
  server: ServerProcess,
  token: string,
  histories: AccountHistory[],
  onWrite: () => void,
): Promise<void> {
  const history: AccountHistory = {
    email: `${crypto.randomUUID()}@example.org`,
    uid: null,
    done: [],
    pending: null,
  };
  histories.push(history);
  const send = async (
    action: string,
    ...args: Parameters<typeof askServer> extends [unknown, ...infer R] ? R : never
  ) => {
    history.pending = action;
    const response = await askServer(server, ...args);
    if (response.status >= 300) throw new Error(`${action} was answered with ${response.status}`);
    history.pending = null;
    history.done.push(action);
    onWrite();
    return response.body;
  };
  const body = { email: history.email, password: 'uzun-bir-şifre' };
  const { user } = await send('registered', 'POST', '/auth/register', { body });
  history.uid = (user as { uid: string }).uid;
  const steps = sequences[histories.length % sequences.length] ?? [];
  for (const { action, method, path: lastPathSegment, body: stepBody } of steps) {
    await send(action, method, `/admin/users/${history.uid}/${lastPathSegment}`, {
      token,
      ...(stepBody && { body: stepBody }),
    });
  }
  if (histories.length % 3 === 0) {
    const { token: ownToken } = (await askServer(server, 'POST', '/auth/login', { body })).body;
    if (typeof ownToken === 'string')
      await send('account-deleted', 'DELETE', '/user/account', { token: ownToken });
  }
}

describe(`a server that is killed ${kills} times while it changes accounts`, () => {
  it('has every acknowledged change and no partial change in its database after each restart', {
    timeout: 3_600_000, // enough for the full run on a busy machine
  }, async () => {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-durability-'));
    onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
    const dataDir = path.join(folder, 'data');
    fs.mkdirSync(dataDir);
    const file = path.join(dataDir, 'lamina.db');
    const settings = {
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(folder, 'slides'),
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    };
    const histories: AccountHistory[] = [];
    let acknowledged = 0;
    let slowestStartMs = 0;

    for (let kill = 1; kill <= kills; kill++) {
      const startedAt = performance.now();
      const server = await startServerProcess(file, settings);
      onTestFinished(() => void server.process.kill('SIGKILL'));
      slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt);
      const { token } = (await askServer(server, 'POST', '/auth/login', { body: admin })).body;

      // Each server is killed after about the same number of writes, with a random delay of up to 5 ms.
      const killAt = Math.ceil((writes / kills) * kill);
      let isKilled = false;
      const killWhenDue = () => {
        if (isKilled || acknowledged < killAt) return;
        isKilled = true;
        setTimeout(() => server.process.kill('SIGKILL'), Math.random() * 5);
      };
      const clients = Array.from({ length: concurrentUsers }, async () => {
        for (;;) {
          await runSequence(server, token as string, histories, () => {
            acknowledged += 1;
            killWhenDue();
          });
        }
      });
      const outcomes = await Promise.allSettled(clients);
      // Each client ends with the TypeError of `fetch` for a broken connection.
      for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: expect.any(TypeError) });
      await server.kill();
    }
    expect(acknowledged).toBeGreaterThanOrEqual(writes);

    await startAndStop(settings);
    const interrupted = expectAllAcknowledgedChanges(file, histories);
    const db = await openDatabase({ url: null, file });
    onTestFinished(() => db.destroy());
    expect(await checkChain(db)).toMatchObject({ state: 'intact' });
    process.stdout.write(
      `${acknowledged} acknowledged writes with ${kills} kills: none lost, none partial; ` +
        `${interrupted} more were interrupted; slowest start after a kill ${Math.round(slowestStartMs)} ms\n`,
    );
  });
});

/** Starts the real program, which recovers the database, and stops it gracefully. */
async function startAndStop(settings: Readonly<Record<string, string>>): Promise<void> {
  const main = path.join(import.meta.dirname, '../main.ts');
  const server = spawn(process.execPath, [main], {
    env: { PORT: '0', DEMO: 'off', LOG_LEVEL: 'silent', ...settings },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  const stopped = once(server, 'exit');
  for await (const line of createInterface({ input: server.stdout })) {
    if (/running at http/.test(line)) server.kill('SIGTERM');
  }
  expect(await stopped).toEqual([0, null]);
}

/** Compares the database with the histories of the accounts. @returns the number of interrupted changes */
function expectAllAcknowledgedChanges(file: string, histories: readonly AccountHistory[]): number {
  const db = new SqliteDatabase(file, { readonly: true });
  onTestFinished(() => void db.close());
  const rowsOf = <Row>(sql: string) => db.prepare(sql).all() as Row[];
  expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
  expect(db.pragma('foreign_key_check')).toEqual([]);

  const users = new Map(
    rowsOf<{ uid: string; email: string; status: string; role: string }>(
      'select uid, email, status, role from users',
    ).map((user) => [user.uid, user]),
  );
  const uidByEmail = new Map([...users.values()].map(({ uid, email }) => [email, uid]));

  // Every account has exactly one identity and vice versa.
  const identities = rowsOf<{ uid: string }>('select uid from identities').map(({ uid }) => uid);
  expect(identities.sort()).toEqual([...users.keys()].sort());

  // The audit log has no gap, and its last entry of each account matches the account.
  const auditRows = rowsOf<{ seq: number; action: string; target: string; detail: string }>(
    "select seq, action, target, detail from audit where result = 'done' order by seq",
  );
  const seqs = rowsOf<{ seq: number }>('select seq from audit order by seq').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  const changeActions = new Set(['registered', 'password-set', 'account-deleted', 'first-admin-made']);
  for (const { action } of sequences.flat()) changeActions.add(action);
  const auditRowsByUid = Map.groupBy(
    auditRows.filter(({ action }) => changeActions.has(action)),
    ({ target }) => target,
  );
  for (const [uid, entries] of auditRowsByUid) {
    const last = entries.at(-1);
    const user = users.get(uid);
    if (last?.action === 'account-deleted') expect(user).toBeUndefined();
    else if (last?.action === 'registered')
      expect(user).toMatchObject({ status: 'pending', role: 'unassigned' });
    else if (last?.action !== 'first-admin-made') {
      const { status, role } = JSON.parse(last?.detail ?? '{}') as { status: string; role: string };
      expect(user).toMatchObject({ status, role });
    }
  }
  expect(new Set(auditRowsByUid.keys())).toEqual(new Set([...users.keys(), ...deletedUidsIn(auditRows)]));

  // Each account has exactly its acknowledged changes, in order; only the pending change may follow them.
  let interrupted = 0;
  for (const { email, uid, done, pending } of histories) {
    if (pending !== null) interrupted += 1;
    const accountUid = uid ?? uidByEmail.get(email);
    const accountRows = accountUid === undefined ? [] : (auditRowsByUid.get(accountUid) ?? []);
    const recordedActions = accountRows.map(({ action }) => action);
    const withPending = pending === null ? done : [...done, pending];
    expect([done, withPending]).toContainEqual(recordedActions);
  }
  return interrupted;
}

/** Returns the uids of the deleted accounts. */
function deletedUidsIn(auditRows: readonly { readonly action: string; readonly target: string }[]): string[] {
  return auditRows.filter(({ action }) => action === 'account-deleted').map(({ target }) => target);
}
