/** What has been acknowledged is there after the process was killed, on the default database. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, it, onTestFinished } from 'vitest';

const main = path.join(import.meta.dirname, '../main.ts');
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };

/** A real server on a port of its own. @returns its address and its process */
async function startServer(dataDir: string): Promise<{ address: string; server: ChildProcess }> {
  const server = spawn(process.execPath, [main], {
    env: {
      PORT: '0',
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(dataDir, 'slides'),
      DEMO: 'off',
      LOG_LEVEL: 'silent',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  for await (const line of createInterface({ input: server.stdout })) {
    const address = /running at (http:\S+)/.exec(line)?.[1];
    if (address !== undefined) return { address, server };
  }
  throw new Error('the server ended without a word');
}

async function call(address: string, path: string, body: object, token?: string) {
  return fetch(`${address}/api/v1${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...(token && { authorization: `Bearer ${token}` }) },
    body: JSON.stringify(body),
  });
}

describe('a server that is killed while people register and are approved', () => {
  it('has lost nothing that it had answered, and has done nothing by halves', {
    timeout: 120_000,
  }, async () => {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-durability-'));
    onTestFinished(() => fs.rmSync(dataDir, { recursive: true, force: true }));
    const registered = new Set<string>();
    const approved = new Set<string>();

    for (let round = 0; round < 2; round++) {
      const { address, server } = await startServer(dataDir);
      const { token } = (await (await call(address, '/auth/login', admin)).json()) as { token: string };
      const killed = once(server, 'exit');
      let sent = 0;
      const work = async (): Promise<void> => {
        for (;;) {
          sent += 1;
          const email = `${round}-${sent}@example.org`;
          const answer = await call(address, '/auth/register', { email, password: 'uzun-bir-şifre' });
          if (answer.status !== 201) throw new Error(`registering answered ${answer.status}`);
          const { user } = (await answer.json()) as { user: { uid: string } };
          registered.add(user.uid);
          if (registered.size % 10 === 0) server.kill('SIGKILL');
          const approval = await call(address, `/admin/users/${user.uid}/approve`, {}, token);
          if (approval.status === 200) approved.add(user.uid);
        }
      };
      const ends = await Promise.allSettled([work(), work(), work(), work()]);
      for (const end of ends) expect(end).toMatchObject({ reason: expect.any(TypeError) }); // the connection broke
      await killed;
    }

    const { server } = await startServer(dataDir);
    const stopped = once(server, 'exit');
    server.kill('SIGTERM');
    expect(await stopped).toEqual([0, null]);

    const db = new SqliteDatabase(path.join(dataDir, 'lamina.db'), { readonly: true });
    onTestFinished(() => void db.close());
    expect(db.pragma('integrity_check', { simple: true })).toBe('ok');
    const users = db.prepare('select uid, status from users').all() as { uid: string; status: string }[];
    const statusOf = new Map(users.map(({ uid, status }) => [uid, status]));
    expect(registered.size).toBeGreaterThanOrEqual(20);
    for (const uid of registered) expect(statusOf.has(uid)).toBe(true);
    for (const uid of approved) expect(statusOf.get(uid)).toBe('active');

    // State and trail agree, and the trail has no gap.
    const trail = db
      .prepare("select seq, action, target from audit where result = 'done' order by seq")
      .all() as {
      seq: number;
      action: string;
      target: string;
    }[];
    expect(trail.map(({ seq }) => seq)).toEqual(trail.map((_, i) => i + 1));
    const targetsOf = (action: string) =>
      trail
        .filter((entry) => entry.action === action)
        .map(({ target }) => target)
        .sort();
    const others = users.filter(({ uid }) => targetsOf('first-admin-made')[0] !== uid);
    expect(targetsOf('registered')).toEqual(others.map(({ uid }) => uid).sort());
    expect(targetsOf('approved')).toEqual(
      others
        .filter(({ status }) => status === 'active')
        .map(({ uid }) => uid)
        .sort(),
    );
    const identities = db.prepare('select uid from identities order by uid').all() as { uid: string }[];
    expect(identities.map(({ uid }) => uid)).toEqual(users.map(({ uid }) => uid).sort());
  });
});
