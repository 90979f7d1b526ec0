/** Starts the built product as a person starts it, as one process with a data folder and a slide folder of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const administrator = { email: 'admin@example.org', password: 'glass, stain and light' };

export interface Product {
  readonly address: string;
  /** Its slide folder. */
  readonly slidesDir: string;
  /** Returns the e-mails to an address as plain text. Without a mail server they stay in the outbox folder. */
  mailsTo(address: string): Promise<string[]>;
  /** Returns the output of the server so far, for the report of a failed test. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Compiled code of servers and render processes of earlier starts: a server then starts in half the time, a render
 * process in a third.
 */
const compiledCode = path.join(tmpdir(), 'lamina-e2e-compile-cache');

/**
 * @param settings that differ from those of a fresh installation
 * @throws Error when the server ends before it is ready, with its output
 */
export async function startProduct(
  prepareSlides: (folder: string) => Promise<void>,
  settings: Readonly<Record<string, string>> = {},
): Promise<Product> {
  const folder = await mkdtemp(path.join(tmpdir(), 'lamina-e2e-'));
  const slidesDir = path.join(folder, 'slides');
  await mkdir(slidesDir);
  await prepareSlides(slidesDir);

  const dataDir = path.join(folder, 'data');
  await mkdir(dataDir);
  await mkdir(path.join(compiledCode, 'render'), { recursive: true });
  await symlink(path.join(compiledCode, 'render'), path.join(dataDir, 'compiled'));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['packages/server/src/main.ts'], {
    // The server does not inherit the settings of the shell that runs the tests.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: path.join(compiledCode, 'server'),
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      SLIDES_DIR: slidesDir,
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
      ...settings,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [server.stdout, server.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  }

  const product: Product = {
    address,
    slidesDir,
    log: () => output,
    mailsTo: (to) => readMails(path.join(dataDir, 'outbox'), to),
    async stop() {
      await stopProcess(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await waitUntilReady(address, server);
  } catch (error) {
    await product.stop();
    throw new Error(`The server did not become ready.\n${output}`, { cause: error });
  }
  return product;
}

async function readMails(outbox: string, to: string): Promise<string[]> {
  const names = await readdir(outbox).catch(() => []); // the first e-mail creates it
  const mails = await Promise.all(names.map((name) => readFile(path.join(outbox, name), 'utf8')));
  return mails.filter((mail) => mail.includes(to));
}

async function waitUntilReady(address: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (server.exitCode === null && Date.now() < deadline) {
    try {
      if ((await fetch(`${address}/health/ready`)).ok) return;
    } catch {
      // not listening yet
    }
    await setTimeout(100);
  }
  throw new Error(`not ready at ${address}`);
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}
