/** The commands as they are run, beside the program as it is delivered. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyPlace, loadOldDatabase, temporaryFolder } from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { askServer, type ServerProcess, startProgram } from '../testing/server-process.ts';

/** What Node has compiled once. */
const compiled = path.join(os.tmpdir(), 'lamina-compile-cache');

interface Ended {
  readonly code: number;
  readonly said: string;
}

/** As `npm run` does it. */
function run(
  command: string,
  words: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Ended> {
  const file = path.join(import.meta.dirname, `${command}-command.ts`);
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...words],
      { env: { LOG_LEVEL: 'silent', NODE_COMPILE_CACHE: compiled, ...env } },
      (_, out, err) => resolve({ code: child.exitCode ?? -1, said: out + err }),
    );
  });
}

describe('the commands', () => {
  it('back up, bring back and end with 0; with 1 when something is wrong and 2 when they are asked wrongly', async () => {
    const dataDir = temporaryFolder();
    await loadOldDatabase('0008', 'SQLite', dataDir);
    const [there, here] = [{ DATA_DIR: dataDir }, { DATA_DIR: temporaryFolder() }];
    const backup = await run('backup', ['--keep', '3'], { ...there, SMTP_URL: 'smtp://u:hidden@h' });
    expect(backup).toMatchObject({ code: 0, said: expect.stringContaining('The backup is in ') });
    expect(backup.said).not.toContain('hidden');
    const [name] = fs.readdirSync(path.join(dataDir, 'backups'));
    const folder = path.join(dataDir, 'backups', name ?? '');
    expect(await run('restore', [folder], here)).toMatchObject({
      code: 0,
      said: expect.stringContaining('Restored.'),
    });
    expect(await run('restore', [folder], here)).toMatchObject({
      code: 1,
      said: expect.stringContaining('--replace'),
    });
    expect(await run('restore', [], here)).toMatchObject({
      code: 2,
      said: expect.stringContaining('npm run restore'),
    });
    expect(await run('backup', ['--keep', '0'], there)).toMatchObject({ code: 2 });
    const wrong = await run('move', ['--to', 'mysql://u:hidden@h/d'], there);
    expect(wrong).toMatchObject({ code: 2, said: expect.stringContaining('--to must be sqlite or') });
    const away = await run('move', ['--to', 'postgres://u:hidden@127.0.0.1:1/d'], there);
    expect(away).toMatchObject({ code: 1, said: expect.stringContaining('The database cannot be opened.') });
    expect(wrong.said + away.said).not.toContain('hidden');
  });
});

describe.each(databaseKinds)('an installation over %s that is lost', (kind) => {
  it('is back with its people, none of them signed in', async () => {
    const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
    const settings = async () => {
      const DATA_DIR = temporaryFolder();
      const { url } = await emptyPlace(kind, DATA_DIR);
      return { DATA_DIR, DATABASE_URL: url ?? '', ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password };
    };
    const started = async (env: Readonly<Record<string, string>>): Promise<ServerProcess> => {
      const server = await startProgram(env);
      onTestFinished(() => server.kill());
      return server;
    };
    const [lost, found] = [await settings(), await settings()];
    const server = await started(lost);
    const signedIn = await askServer(server, 'POST', '/auth/login', { body: admin });
    const token = String(signedIn.body.token);
    const person = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };
    await askServer(server, 'POST', '/auth/register', { body: person });
    await askServer(server, 'PUT', '/user/password', { token, body: { new_password: 'yepyeni-parola' } });
    const to = temporaryFolder();
    expect(await run('backup', ['--to', to], lost)).toMatchObject({ code: 0 });
    await server.kill();

    const [name] = fs.readdirSync(to);
    expect(await run('restore', [path.join(to, name ?? '')], found)).toMatchObject({ code: 0 });
    const again = await started(found);
    expect(await askServer(again, 'GET', '/user/profile', { token })).toMatchObject({ status: 401 });
    expect(await askServer(again, 'POST', '/auth/login', { body: admin })).toMatchObject({ status: 401 });
    const newPassword = { email: admin.email, password: 'yepyeni-parola' };
    const anew = await askServer(again, 'POST', '/auth/login', { body: newPassword });
    expect(anew.status).toBe(200);
    const users = await askServer(again, 'GET', '/admin/users/', { token: String(anew.body.token) });
    expect(users.body.users).toMatchObject([
      { email: person.email, status: 'pending' },
      { email: admin.email, status: 'active' },
    ]);
  });
});
