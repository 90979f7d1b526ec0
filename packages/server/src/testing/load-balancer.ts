/** nginx in front of several server processes, with the configuration of deploy/ apart from host names, ports and TLS. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';

const deployFolder = path.join(import.meta.dirname, '../../../../deploy'); // the configuration for operators

/** Path of the nginx program; null when it is not installed. */
export const nginx: string | null =
  [...(process.env.PATH ?? '').split(path.delimiter), '/usr/sbin']
    .map((folder) => path.join(folder, 'nginx'))
    .find((file) => fs.existsSync(file)) ?? null;

export interface LoadBalancer {
  readonly address: string; // base URL
  readonly port: number;
  readonly process: ChildProcess;
  stop(): Promise<void>;
}

/**
 * Starts nginx, and waits until it answers.
 *
 * @param ports ports of the server processes on the loopback interface
 * @param wrap changes the command line, for example to run nginx on another processor
 * @param requestsPerAddress limit of concurrent requests per client address. It replaces the limit of deploy/, because all clients of a
 *   test have one address. nginx accepts at most 65,535.
 * @throws Error when nginx is not installed or rejects the configuration
 */
export async function startLoadBalancer(
  ports: readonly number[],
  wrap: (commandLine: readonly string[]) => readonly string[] = (commandLine) => commandLine,
  requestsPerAddress = 65_000,
): Promise<LoadBalancer> {
  if (nginx === null) throw new Error('nginx is not installed');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-nginx-'));
  const port = await freePort();
  const settingsFile = path.join(folder, 'nginx.conf');
  fs.writeFileSync(settingsFile, settingsIn(folder, siteOf(port, ports, folder, requestsPerAddress)));
  const [command = nginx, ...args] = wrap([nginx, '-c', settingsFile, '-e', path.join(folder, 'error.log')]);
  const child = spawn(command, args, { stdio: ['ignore', 'inherit', 'inherit'] });
  const ended = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await ended;
    fs.rmSync(folder, { recursive: true, force: true });
  };
  const address = `http://127.0.0.1:${port}`;
  while (!(await isAnswering(address))) {
    if (child.exitCode !== null) throw new Error('nginx rejects the configuration of deploy/');
    await wait(20);
  }
  return { address, port, process: child, stop };
}

/**
 * Returns deploy/nginx.conf without TLS, with its logs in `folder`. nginx listens on `port` and forwards to `ports`. Without TLS, a
 * browser uses HTTP/1.1 and opens six connections instead of one, so more connections may wait until nginx accepts them (`backlog`).
 */
function siteOf(port: number, ports: readonly number[], folder: string, requestsPerAddress: number): string {
  return (
    fs
      .readFileSync(path.join(deployFolder, 'nginx.conf'), 'utf8')
      // Replaces the lines `server lamina-1:3000 …;` by one line for each port.
      .replace(/( {4}server )lamina-\d:\d+(.*\n)(?: {4}server .*\n)*/, (_, before: string, after: string) =>
        ports.map((serverPort) => `${before}127.0.0.1:${serverPort}${after}`).join(''),
      )
      .replace(/^server \{\n {4}listen 80;[^}]*\}\n/m, '')
      .replace(/^ {4}listen (443|\[::\]:443).*\n/gm, '')
      .replace(/^ {4}ssl_.*\n/gm, '')
      .replace(/limit_conn lamina_address \d+;/, `limit_conn lamina_address ${requestsPerAddress};`)
      // One server block remains, without `listen` lines. It needs no `server_name`, but it needs a `listen` line.
      .replace(/^ {4}server_name .*$/m, `    listen 127.0.0.1:${port} backlog=4096;`)
      .replace('/var/log/nginx/lamina.log', path.join(folder, 'access.log'))
      .replace('/var/log/nginx/lamina-error.log', path.join(folder, 'error.log'))
  );
}

/** Returns deploy/nginx.main.conf with one worker process, with all files that nginx writes in `folder`, and with the site. */
function settingsIn(folder: string, site: string): string {
  const temporaryFolders = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};\n`,
  );
  // When root starts nginx, its workers run as another user by default, which may not write to `folder`.
  const user = process.getuid?.() === 0 ? 'user root;\n' : '';
  return fs
    .readFileSync(path.join(deployFolder, 'nginx.main.conf'), 'utf8')
    .replace(/^user .*\n/m, `${user}daemon off;\n`)
    .replace(/^worker_processes .*$/m, 'worker_processes 1;')
    .replace(/^error_log .*\n/m, '')
    .replace(/^pid .*$/m, `pid ${folder}/nginx.pid;`)
    .replace(/^ *include .*$/m, () => temporaryFolders.join('') + site);
}

async function isAnswering(address: string): Promise<boolean> {
  try {
    await (await fetch(address)).arrayBuffer();
    return true;
  } catch {
    return false;
  }
}

export async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
