/** A PostgreSQL of its own for the store tests: made before them, gone after them. */
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
 * @returns its address and a function that ends and removes it; null, with a sentence on the
 *   terminal, when this machine has none or it does not start
 */
export async function startPostgres() {
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
  const settings = `-p ${port} -c listen_addresses=127.0.0.1 -c unix_socket_directories= -c fsync=off`;
  for (const commandLine of [
    [
      binaries.initdb,
      ...['-D', data, '-U', 'lamina', '-A', 'scram-sha-256', `--pwfile=${passwordFile}`],
      ...['-E', 'UTF8', '--locale=C', '--no-sync'],
    ],
    [binaries.pgCtl, 'start', '-w', '-D', data, '-l', join(folder, 'log'), '-o', settings],
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
  return { address: `postgres://lamina:${password}@127.0.0.1:${port}/postgres`, stop };
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
