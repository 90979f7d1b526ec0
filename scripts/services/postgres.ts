/** A temporary PostgreSQL server for tests and benchmarks. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { run } from '../launcher/runtime.mjs';
import { findCommand } from './find-command.ts';
import { findFreePort } from './free-port.ts';

export interface PostgresServer {
  /** Connection URL of the database, including the random password. */
  readonly url: string;
  readonly dataFolder: string;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
  /** Ends the server without a clean shutdown, as in a crash, for tests in which the database is unavailable. */
  crash(): Promise<unknown>;
  /** Starts the server again after `crash`. */
  restart(): Promise<unknown>;
}

/**
 * Starts PostgreSQL on a free loopback port with a random password.
 *
 * @param extraSettings further settings of PostgreSQL, as `name=value`
 * @returns null, after printing the reason, when this machine has no PostgreSQL or it does not start
 */
export async function startPostgres(extraSettings: readonly string[] = []): Promise<PostgresServer | null> {
  const programs = findPrograms();
  if (!programs) {
    console.log('PostgreSQL is not installed: everything runs on SQLite only.');
    return null;
  }
  const systemUser = findSystemUser();
  const folder = mkdtempSync(join(tmpdir(), 'lamina-postgres-'));
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (systemUser !== null)
    for (const path of [folder, passwordFile]) chownSync(path, systemUser.uid, systemUser.gid);

  const dataFolder = join(folder, 'data');
  const options = { ...systemUser, cwd: folder, capture: true, env: { LC_ALL: 'C' } }; // `run` adds `env` to the environment
  const crash = () => run([programs.pgCtl, 'stop', '-D', dataFolder, '-m', 'immediate'], options);
  const stop = async () => {
    await crash(); // faster than a clean shutdown, and the files are deleted anyway; no effect if the server does not run
    rmSync(folder, { recursive: true, force: true });
  };

  const port = await findFreePort();
  // `fsync=off` is faster; data would be lost only if the machine crashed.
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...extraSettings];
  const serverOptions = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const logFile = join(folder, 'log');
  const startCommand = [programs.pgCtl, 'start', '-w', '-D', dataFolder, '-l', logFile, '-o', serverOptions];
  const storageOptions = ['-D', dataFolder, '-E', 'UTF8', '--locale=C', '--no-sync'];
  // MD5, because SCRAM hashes the password 4,096 times for each connection; the tests open thousands of connections.
  const accountOptions = ['-U', 'lamina', '-A', 'md5', `--pwfile=${passwordFile}`];
  const initialiseCommand = [programs.initdb, ...storageOptions, ...accountOptions];
  for (const commandLine of [initialiseCommand, startCommand]) {
    const { code, output } = await run(commandLine, options);
    if (code !== 0) {
      console.log(`PostgreSQL does not start: everything runs on SQLite only.\n${output.trimEnd()}`);
      await stop();
      return null;
    }
  }
  return {
    url: `postgres://lamina:${password}@127.0.0.1:${port}/postgres`,
    dataFolder,
    stop,
    crash,
    restart: () => run(startCommand, options),
  };
}

/** Finds initdb and pg_ctl. Debian installs them outside PATH, in one folder per version; the newest version is used. */
function findPrograms(): { readonly initdb: string; readonly pgCtl: string } | null {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  const find = (command: string) =>
    folders.map((folder) => join(folder, command)).find((file) => existsSync(file)) ?? findCommand(command);
  const initdb = find('initdb');
  const pgCtl = find('pg_ctl');
  return initdb && pgCtl ? { initdb, pgCtl } : null;
}

/**
 * Returns the system user under which PostgreSQL runs; null for the current user. PostgreSQL refuses to run as root, so a script that runs
 * as root starts it as the system user `postgres` or `nobody`. If neither exists, PostgreSQL does not start.
 */
function findSystemUser(): { readonly uid: number; readonly gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const idOf = (option: string) =>
        Number(execFileSync('id', [option, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: idOf('-u'), gid: idOf('-g') };
    } catch {
      // The user does not exist on this system.
    }
  }
  return null;
}
