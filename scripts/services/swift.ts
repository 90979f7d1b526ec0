/**
 * A temporary S3 server for the tests of object storage: OpenStack Swift with its S3 middleware.
 *
 * Debian: apt-get install --no-install-recommends swift-proxy swift-account swift-container swift-object
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { findFreePort } from './free-port.ts';

/** Debian's own Python. Debian's packages of Swift are not visible to any other Python. */
const python = '/usr/bin/python3';
/** Folder that exists if Swift with its S3 middleware is installed. */
const s3MiddlewareFolder = '/usr/lib/python3/dist-packages/swift/common/middleware/s3api';
const storageKinds = ['account', 'container', 'object'] as const;
type ServerKind = (typeof storageKinds)[number] | 'proxy';
const serverKinds: readonly ServerKind[] = [...storageKinds, 'proxy'];
/** Maximum time until all servers are healthy. */
const startTimeoutMs = 60_000;

/** Python program that builds a ring (Swift's list of servers and devices) for each kind of storage server, with one device. */
const ringsProgram = `
import sys
from swift.common.ring import RingBuilder
folder, *ports = sys.argv[1:]
for kind, port in zip(('account', 'container', 'object'), ports):
    builder = RingBuilder(4, 1, 1)  # 2 ** 4 partitions, 1 copy, at least 1 hour between moves
    builder.add_dev({'region': 1, 'zone': 1, 'ip': '127.0.0.1', 'port': int(port), 'device': 'disk', 'weight': 1,
                     'replication_ip': '127.0.0.1', 'replication_port': int(port), 'meta': ''})
    builder.rebalance()
    builder.get_ring().save(f'{folder}/{kind}.ring.gz')
`;
/**
 * Python program that runs a server. The kernel kills it when its parent process ends (prctl(2): 1 is PR_SET_PDEATHSIG, 9 is SIGKILL).
 */
const serverProgram = `
import ctypes, sys
ctypes.CDLL(None).prctl(1, 9)
folder, kind = sys.argv[1:]
from swift.common.utils import set_swift_dir
set_swift_dir(folder)
from swift.common.wsgi import run_wsgi
sys.exit(run_wsgi(f'{folder}/{kind}-server.conf', f'{kind}-server'))
`;

export interface SwiftServer {
  /** Environment variables from which the tests read URL and credentials of the server. */
  readonly env: Readonly<Record<string, string>>;
  /** Ends the server and removes its files. */
  stop(): Promise<void>;
}

/**
 * Starts Swift on random loopback ports, with a new password.
 *
 * @returns null, after printing the reason, when this machine has no Swift or it does not start
 */
export async function startSwift(): Promise<SwiftServer | null> {
  if (!existsSync(python) || !existsSync(s3MiddlewareFolder)) {
    console.log('Swift is not installed: object storage is not tested.');
    return null;
  }
  const folder = mkdtempSync(join(tmpdir(), 'lamina-swift-'));
  const secret = randomBytes(16).toString('hex');
  const logFile = join(folder, 'log');
  mkdirSync(join(folder, 'disk'));
  const ports = {
    account: await findFreePort(),
    container: await findFreePort(),
    object: await findFreePort(),
    proxy: await findFreePort(),
  };
  writeFileSync(
    join(folder, 'swift.conf'),
    `[swift-hash]\nswift_hash_path_suffix = ${secret}\n[storage-policy:0]\nname = only\ndefault = yes\n`,
  );
  for (const kind of storageKinds)
    writeFileSync(join(folder, `${kind}-server.conf`), storageConf(kind, folder, ports[kind]));
  writeFileSync(join(folder, 'proxy-server.conf'), proxyConf(folder, ports.proxy, secret), { mode: 0o600 });

  const serverProcesses: ChildProcess[] = [];
  const stop = async () => {
    await Promise.all(serverProcesses.map(killProcess));
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  };
  try {
    const writeLog = (text: Buffer) => writeFileSync(logFile, text, { flag: 'a' });
    const rings = runPython(
      ringsProgram,
      [folder, ...storageKinds.map((kind) => String(ports[kind]))],
      writeLog,
    );
    if ((await exitCodeOf(rings)) !== 0) throw new Error('building the rings failed');
    for (const kind of serverKinds) serverProcesses.push(runPython(serverProgram, [folder, kind], writeLog));
    await waitForHealth(`http://127.0.0.1:${ports.proxy}/healthcheck`, serverProcesses);
  } catch (error) {
    const lastLines = existsSync(logFile)
      ? readFileSync(logFile, 'utf8').split('\n').slice(-20).join('\n')
      : '';
    console.log(
      `Swift does not start: object storage is not tested. ${String(error)}\n${lastLines.trimEnd()}`,
    );
    await stop();
    return null;
  }
  return {
    env: {
      TEST_S3_ENDPOINT: `http://127.0.0.1:${ports.proxy}`,
      TEST_S3_REGION: 'us-east-1',
      TEST_S3_ACCESS_KEY_ID: 'test:tester',
      TEST_S3_SECRET_ACCESS_KEY: secret,
    },
    stop,
  };
}

/** Returns the configuration of a storage server, which stores its data in `folder`/disk and starts no child processes (`workers = 0`). */
function storageConf(kind: ServerKind, folder: string, port: number): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
devices = ${folder}
mount_check = false
disable_fallocate = true
log_statsd_host =
log_level = WARNING
[pipeline:main]
pipeline = ${kind}-server
[app:${kind}-server]
use = egg:swift#${kind}
`;
}

/** Returns the configuration file of the proxy server, which offers the S3 API with the one account `test:tester`. */
function proxyConf(folder: string, port: number, secret: string): string {
  return `[DEFAULT]
bind_ip = 127.0.0.1
bind_port = ${port}
workers = 0
user = ${userInfo().username}
swift_dir = ${folder}
log_level = WARNING
[pipeline:main]
pipeline = catch_errors healthcheck cache s3api tempauth slo dlo copy proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:healthcheck]
use = egg:swift#healthcheck
[filter:cache]
use = egg:swift#memcache
memcache_servers =
[filter:s3api]
use = egg:swift#s3api
s3_acl = false
location = us-east-1
[filter:tempauth]
use = egg:swift#tempauth
user_test_tester = ${secret} .admin
[filter:slo]
use = egg:swift#slo
[filter:dlo]
use = egg:swift#dlo
[filter:copy]
use = egg:swift#copy
`;
}

/** Starts a Python program. @param onOutput called with everything that it writes to standard output and standard error */
function runPython(program: string, args: readonly string[], onOutput: (text: Buffer) => void): ChildProcess {
  const child = spawn(python, ['-c', program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  child.stdout.on('data', onOutput);
  child.stderr.on('data', onOutput);
  return child;
}

/** Waits for the end of a process. @returns the exit code; null when a signal ended the process */
function exitCodeOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => {
    child.once('exit', resolve);
    child.once('error', reject);
  });
}

async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = exitCodeOf(child);
  child.kill('SIGKILL');
  await ended;
}

/** Waits until the proxy server is healthy. @throws Error when a server process ends, or after `startTimeoutMs` */
async function waitForHealth(url: string, serverProcesses: readonly ChildProcess[]): Promise<void> {
  const deadline = Date.now() + startTimeoutMs;
  while (Date.now() < deadline) {
    if (serverProcesses.some(({ exitCode, signalCode }) => exitCode !== null || signalCode !== null))
      throw new Error('a server process has ended');
    const response = await fetch(url).catch(() => null); // null: the proxy server does not listen yet
    await response?.arrayBuffer(); // reads the whole body, so that the connection can be used again
    if (response?.ok) return;
    await wait(100);
  }
  throw new Error(`the server was not healthy within ${startTimeoutMs} ms`);
}
