/**
 * What has been acknowledged is there after the process was killed, on the default database: whole servers, asked over
 * the wire by people and administrators, ended by `kill -9` at random moments.
 *
 * `DURABILITY=full` (`npm run durability`) makes 10,000 acknowledged writes under 50 kills; otherwise there are fewer.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';
import { checkChain } from '../auditing/chain-check.ts';
import { askServer, type ServerProcess, startServerProcess } from '../testing/server-process.ts';
import { openDatabase } from './database.ts';

const { kills, writes } =
  process.env.DURABILITY === 'full' ? { kills: 50, writes: 10_000 } : { kills: 5, writes: 600 };
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const peopleAtOnce = 8;

/** One account, as those who asked for its changes were told. */
interface Told {
  readonly email: string;
  /** Null until the registration has been answered. */
  uid: string | null;
  /** What has been acknowledged, as the trail calls it, in order. */
  readonly done: string[];
  /** What was asked and never answered: it may have happened or not. */
  underWay: string | null;
}

interface Step {
  /** What the trail calls it. */
  readonly action: string;
  readonly method: string;
  readonly path: string;
  readonly body?: object;
}

const step = (action: string, name: string, body: object = {}, method = 'POST'): Step => ({
  action,
  method,
  path: name,
  body,
});
const approve = step('approved', 'approve');
const suspend = step('suspended', 'suspend');
const deactivate = step('deactivated', 'deactivate');
const promote = step('promoted', 'promote');
const setPassword = step('password-set', 'password', { new_password: 'yepyeni-şifre' }, 'PUT');

/** What administrators do with an account that has been registered; one of these, by chance. */
const lives: readonly (readonly Step[])[] = [
  [approve, suspend, approve, setPassword],
  [approve, promote, suspend, approve],
  [suspend, approve, deactivate, approve, setPassword],
  [setPassword, approve, promote, deactivate],
  [deactivate, approve],
];

/** A new person registers and lives one of the lives, until the connection breaks. @throws TypeError then */
async function live(server: ServerProcess, token: string, told: Told[], onWrite: () => void): Promise<void> {
  const person: Told = { email: `${crypto.randomUUID()}@example.org`, uid: null, done: [], underWay: null };
  told.push(person);
  const ask = async (
    action: string,
    ...asked: Parameters<typeof askServer> extends [unknown, ...infer R] ? R : never
  ) => {
    person.underWay = action;
    const answer = await askServer(server, ...asked);
    if (answer.status >= 300) throw new Error(`${action} was answered with ${answer.status}`);
    person.underWay = null;
    person.done.push(action);
    onWrite();
    return answer.body;
  };
  const body = { email: person.email, password: 'uzun-bir-şifre' };
  const { user } = await ask('registered', 'POST', '/auth/register', { body });
  person.uid = (user as { uid: string }).uid;
  for (const { action, method, path: name, body: what } of lives[told.length % lives.length] ?? []) {
    await ask(action, method, `/admin/users/${person.uid}/${name}`, { token, ...(what && { body: what }) });
  }
  if (told.length % 3 === 0) {
    const { token: own } = (await askServer(server, 'POST', '/auth/login', { body })).body;
    if (typeof own === 'string') await ask('account-deleted', 'DELETE', '/user/account', { token: own });
  }
}

describe(`a server that is killed ${kills} times while accounts change`, () => {
  it('has lost nothing that it had answered, and has done nothing by halves', {
    timeout: 3_600_000, // for the whole number, on a machine that is busy with other things
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
    const told: Told[] = [];
    let acknowledged = 0;
    let slowestStartMs = 0;

    for (let kill = 1; kill <= kills; kill++) {
      const startedAt = performance.now();
      const server = await startServerProcess(file, settings);
      onTestFinished(() => void server.process.kill('SIGKILL'));
      slowestStartMs = Math.max(slowestStartMs, performance.now() - startedAt);
      const { token } = (await askServer(server, 'POST', '/auth/login', { body: admin })).body;

      // After about as many writes each time, at any moment of one.
      const killAt = Math.ceil((writes / kills) * kill);
      let isKilled = false;
      const killSoon = () => {
        if (isKilled || acknowledged < killAt) return;
        isKilled = true;
        setTimeout(() => server.process.kill('SIGKILL'), Math.random() * 5);
      };
      const people = Array.from({ length: peopleAtOnce }, async () => {
        for (;;) {
          await live(server, token as string, told, () => {
            acknowledged += 1;
            killSoon();
          });
        }
      });
      const ends = await Promise.allSettled(people);
      for (const end of ends) expect(end).toMatchObject({ reason: expect.any(TypeError) }); // the connection broke
      await server.kill();
    }
    expect(acknowledged).toBeGreaterThanOrEqual(writes);

    await startAndStop(settings);
    const interrupted = expectAsTold(file, told);
    const db = await openDatabase({ url: null, file });
    onTestFinished(() => db.destroy());
    expect(await checkChain(db)).toMatchObject({ state: 'intact' });
    process.stdout.write(
      `${acknowledged} acknowledged writes under ${kills} kills: none lost, none half done; ` +
        `${interrupted} more were under way; slowest start after a kill ${Math.round(slowestStartMs)} ms\n`,
    );
  });
});

/** The real program takes up what is left, and ends in order. */
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

/** @returns how many changes were interrupted */
function expectAsTold(file: string, told: readonly Told[]): number {
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
  const uidOf = new Map([...users.values()].map(({ uid, email }) => [email, uid]));

  // Account and identity, always both.
  const identities = rowsOf<{ uid: string }>('select uid from identities').map(({ uid }) => uid);
  expect(identities.sort()).toEqual([...users.keys()].sort());

  // The trail has no gap, and what it says of an account is what the account is.
  const trail = rowsOf<{ seq: number; action: string; target: string; detail: string }>(
    "select seq, action, target, detail from audit where result = 'done' order by seq",
  );
  const seqs = rowsOf<{ seq: number }>('select seq from audit order by seq').map(({ seq }) => seq);
  expect(seqs).toEqual(seqs.map((_, i) => i + 1));
  const changes = new Set(['registered', 'password-set', 'account-deleted', 'first-admin-made']);
  for (const { action } of lives.flat()) changes.add(action);
  const trailOf = Map.groupBy(
    trail.filter(({ action }) => changes.has(action)),
    ({ target }) => target,
  );
  for (const [uid, entries] of trailOf) {
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
  expect(new Set(trailOf.keys())).toEqual(new Set([...users.keys(), ...deletedIn(trail)]));

  // Everything that was acknowledged, in its order; after it at most what was under way.
  let interrupted = 0;
  for (const { email, uid, done, underWay } of told) {
    if (underWay !== null) interrupted += 1;
    const known = uid ?? uidOf.get(email);
    const happened = (known === undefined ? [] : (trailOf.get(known) ?? [])).map(({ action }) => action);
    const mayHaveHappened = underWay === null ? done : [...done, underWay];
    expect([done, mayHaveHappened]).toContainEqual(happened);
  }
  return interrupted;
}

function deletedIn(trail: readonly { readonly action: string; readonly target: string }[]): string[] {
  return trail.filter(({ action }) => action === 'account-deleted').map(({ target }) => target);
}
