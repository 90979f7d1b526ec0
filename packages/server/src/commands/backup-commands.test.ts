/** Tests the commands backup, restore and move as child processes, together with a running server. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { emptyDatabaseLocation, loadOldDatabase, temporaryFolder } from '../store/testing/old-databases.ts';
import { databaseKinds } from '../store/testing/test-database.ts';
import { askServer, type ServerProcess, startProgram } from '../testing/server-process.ts';

/** Compile cache of Node, which all runs share. */
const compileCache = path.join(os.tmpdir(), 'lamina-compile-cache');

interface Result {
  readonly code: number;
  readonly output: string;
}

/** Runs a command as a child process, with only these environment variables. */
function run(
  command: string,
  commandArguments: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<Result> {
  const file = path.join(import.meta.dirname, `${command}.ts`);
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [file, ...commandArguments],
      { env: { LOG_LEVEL: 'silent', NODE_COMPILE_CACHE: compileCache, ...env } },
      (_, out, err) => resolve({ code: child.exitCode ?? -1, output: out + err }),
    );
  });
}

describe('commands that need an existing database:', () => {
  it.each(['audit-verify', 'restore-admin'])(
    '%s exits with 1, and creates no database, when DATA_DIR contains none',
    async (command) => {
      const dataDir = temporaryFolder();
      expect(await run(command, [], { DATA_DIR: dataDir })).toMatchObject({
        code: 1,
        output: expect.stringContaining(`${path.join(dataDir, 'lamina.db')} does not exist. Set DATA_DIR`),
      });
      expect(fs.readdirSync(dataDir)).toEqual([]);
    },
  );
});

describe('npm run backup, restore and move', () => {
  it('exit with 0 on success, 1 on failure and 2 on invalid arguments, without printing passwords', async () => {
    const dataDir = temporaryFolder();
    await loadOldDatabase('0008', 'SQLite', dataDir); // a database as the migration 0008 left it
    const [source, target] = [{ DATA_DIR: dataDir }, { DATA_DIR: temporaryFolder() }];
    const backup = await run('backup', ['--keep', '3'], { ...source, SMTP_URL: 'smtp://u:hidden@h' });
    expect(backup).toMatchObject({ code: 0, output: expect.stringContaining('The backup is in ') });
    expect(backup.output).not.toContain('hidden');
    const [backupName] = fs.readdirSync(path.join(dataDir, 'backups'));
    const backupFolder = path.join(dataDir, 'backups', backupName ?? '');
    expect(await run('restore', [backupFolder], target)).toMatchObject({
      code: 0,
      output: expect.stringContaining('Restored.'),
    });
    expect(await run('restore', [backupFolder], target)).toMatchObject({
      code: 1,
      output: expect.stringContaining('--replace'),
    });
    expect(await run('restore', [], target)).toMatchObject({
      code: 2,
      output: expect.stringContaining('npm run restore'),
    });
    expect(await run('backup', ['--keep', '0'], source)).toMatchObject({ code: 2 });
    const wrongUrl = await run('move', ['--to', 'mysql://u:hidden@h/d'], source);
    expect(wrongUrl).toMatchObject({ code: 2, output: expect.stringContaining('--to must be sqlite or') });
    const unreachable = await run('move', ['--to', 'postgres://u:hidden@127.0.0.1:1/d'], source);
    expect(unreachable).toMatchObject({
      code: 1,
      output: expect.stringContaining('The database cannot be opened.'),
    });
    expect(wrongUrl.output + unreachable.output).not.toContain('hidden');
  });
});

describe.each(databaseKinds)('npm run backup and restore (database: %s)', (kind) => {
  it('restore accounts and passwords of a lost installation, but no sign-ins', async () => {
    const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
    const settingsOfNewInstallation = async () => {
      const DATA_DIR = temporaryFolder();
      const { url } = await emptyDatabaseLocation(kind, DATA_DIR);
      return { DATA_DIR, DATABASE_URL: url ?? '', ADMIN_EMAIL: admin.email, ADMIN_PASSWORD: admin.password };
    };
    const startServer = async (env: Readonly<Record<string, string>>): Promise<ServerProcess> => {
      const server = await startProgram(env);
      onTestFinished(() => server.kill());
      return server;
    };
    const [lost, replacement] = [await settingsOfNewInstallation(), await settingsOfNewInstallation()];
    const server = await startServer(lost);
    const signedIn = await askServer(server, 'POST', '/auth/login', { body: admin });
    const token = String(signedIn.body.token);
    const applicant = { email: 'ayse@example.org', password: 'uzun-bir-şifre' };
    await askServer(server, 'POST', '/auth/register', { body: applicant });
    await askServer(server, 'PUT', '/user/password', { token, body: { new_password: 'yepyeni-parola' } });
    const backupsFolder = temporaryFolder();
    expect(await run('backup', ['--to', backupsFolder], lost)).toMatchObject({ code: 0 });
    await server.kill();

    const [backupName] = fs.readdirSync(backupsFolder);
    expect(await run('restore', [path.join(backupsFolder, backupName ?? '')], replacement)).toMatchObject({
      code: 0,
    });
    const restored = await startServer(replacement);
    expect(await askServer(restored, 'GET', '/user/profile', { token })).toMatchObject({ status: 401 });
    expect(await askServer(restored, 'POST', '/auth/login', { body: admin })).toMatchObject({ status: 401 });
    const newPassword = { email: admin.email, password: 'yepyeni-parola' };
    const signedInAgain = await askServer(restored, 'POST', '/auth/login', { body: newPassword });
    expect(signedInAgain.status).toBe(200);
    const users = await askServer(restored, 'GET', '/admin/users/', {
      token: String(signedInAgain.body.token),
    });
    expect(users.body.users).toMatchObject([
      { email: applicant.email, status: 'pending' },
      { email: admin.email, status: 'active' },
    ]);
  });
});
