/** Starts the built product as a single process, with its own data folder and slide folder. */
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
  /** Path of the slide folder. */
  readonly slidesDir: string;
  /** Returns the e-mails to an address as plain text, from the outbox folder in which they stay without a mail server. */
  mailsTo(address: string): Promise<string[]>;
  /** Returns the output of the server so far, for the report of a failed test. */
  log(): string;
  stop(): Promise<void>;
}

/** Folder with compiled code of earlier starts, with which a server starts in half the time and a render worker in a third. */
const compileCache = path.join(tmpdir(), 'lamina-e2e-compile-cache');

/**
 * Starts the product and waits until it is ready.
 *
 * @param prepareSlides fills the slide folder before the start
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
  await mkdir(path.join(compileCache, 'render'), { recursive: true });
  await symlink(path.join(compileCache, 'render'), path.join(dataDir, 'compiled'));
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['packages/server/src/main.ts'], {
    // The server does not inherit the settings of the shell that runs the tests.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NODE_COMPILE_CACHE: path.join(compileCache, 'server'),
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
  const names = await readdir(outbox).catch(() => []); // the folder is created with the first e-mail
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
  throw new Error(`The server at ${address} is not ready after 30 s.`);
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('The operating system assigned no port.');
  return address.port;
}
