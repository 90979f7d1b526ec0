/** A PostgreSQL of its own for tests: made before them, gone after them. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onPath } from './chromium.mjs';
import { freePort } from './free-port.mjs';
import { run } from './runtime.mjs';

/**
 * Start a PostgreSQL on a random loopback port, reachable with a password of this run alone.
 *
 * @param more settings, as `name=value`
 * @returns its address, its data folder, a function that ends and removes it, and two for tests of what happens without
 *   it: `halt` ends it as a crash does, `begin` starts it again; null, with a sentence on the terminal, when this machine
 *   has none or it does not start
 */
export async function startPostgres(more = []) {
  const binaries = findBinaries();
  if (!binaries) {
    console.log('No PostgreSQL on this machine: the store is tested on SQLite alone.');
    return null;
  }
  const owner = findOwner();
  const folder = mkdtempSync(join(tmpdir(), 'lamina-postgres-'));
  const password = randomBytes(16).toString('hex');
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (owner.uid !== undefined)
    for (const path of [folder, passwordFile]) chownSync(path, owner.uid, owner.gid);

  const data = join(folder, 'data');
  const as = { ...owner, cwd: folder, capture: true, env: { LC_ALL: 'C' } };
  const stop = async () => {
    await run([binaries.pgCtl, 'stop', '-D', data, '-m', 'immediate'], as);
    rmSync(folder, { recursive: true, force: true });
  };

  const port = await freePort();
  const settings = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'fsync=off', ...more];
  const options = [`-p ${port}`, ...settings.map((setting) => `-c ${setting}`)].join(' ');
  const start = [binaries.pgCtl, 'start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', options];
  for (const commandLine of [
    [
      binaries.initdb,
      ...['-D', data, '-U', 'lamina', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
      ...['-E', 'UTF8', '--locale=C', '--no-sync'],
    ],
    start,
  ]) {
    const { code, output } = await run(commandLine, as);
    if (code !== 0) {
      console.log(
        `PostgreSQL does not start here, the store is tested on SQLite alone:\n${output.trimEnd()}`,
      );
      await stop();
      return null;
    }
  }
  return {
    address: `postgres://lamina:${password}@127.0.0.1:${port}/postgres`,
    data,
    stop,
    halt: () => run([binaries.pgCtl, 'stop', '-D', data, '-m', 'immediate'], as),
    begin: () => run(start, as),
  };
}

/** Debian keeps them out of the PATH, in a folder for each version; the newest is taken. */
function findBinaries() {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian) ? readdirSync(debian).sort((a, b) => Number(b) - Number(a)) : [];
  const folders = versions.map((version) => join(debian, version, 'bin'));
  const find = (command) =>
    folders.map((folder) => join(folder, command)).find((file) => existsSync(file)) ?? onPath(command);
  const initdb = find('initdb');
  const pgCtl = find('pg_ctl');
  return initdb && pgCtl ? { initdb, pgCtl } : null;
}

/** PostgreSQL refuses to run as root: then as its own user, or as nobody. */
function findOwner() {
  if (process.getuid?.() !== 0) return {};
  for (const name of ['postgres', 'nobody']) {
    try {
      const idOf = (option) =>
        Number(execFileSync('id', [option, name], { stdio: ['ignore', 'pipe', 'ignore'] }));
      return { uid: idOf('-u'), gid: idOf('-g') };
    } catch {
      // no such user on this system
    }
  }
  return {};
}
