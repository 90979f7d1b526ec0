/** The tested product: one server process, run from its sources, that serves the built web app, with data and slide folders of its own. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

/** The first account of the product, which the server creates at its start. */
export const administrator = { email: 'admin@example.org', password: 'glass, stain and light' };

export interface Product {
  /** Base URL. */
  readonly url: string;
  /** Path of the slide folder. */
  readonly slidesDir: string;
  /** Returns the e-mails to this recipient as plain text. The server has no mail server, so it leaves them in its outbox folder. */
  mailsTo(recipient: string): Promise<string[]>;
  /** Returns the output of the server so far, for the report of a failed test. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * Folder with compiled code of earlier starts. This code halves the start time of a server, and reduces the start time
 * of a render worker (a process that renders tiles) to a third.
 */
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
  // Render workers keep their compile cache in the data folder, which is new for each start; the link points to the shared cache.
  await symlink(path.join(compileCache, 'render'), path.join(dataDir, 'compiled'));
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
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
    url,
    slidesDir,
    log: () => output,
    mailsTo: (recipient) => readMails(path.join(dataDir, 'outbox'), recipient),
    async stop() {
      await stopProcess(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await waitUntilReady(url, server);
  } catch (error) {
    await product.stop();
    throw new Error(`The server did not become ready.\n${output}`, { cause: error });
  }
  return product;
}

/** Returns the e-mails in the outbox folder that contain the address of the recipient. */
async function readMails(outbox: string, recipient: string): Promise<string[]> {
  const names = await readdir(outbox).catch(() => []); // the folder is created with the first e-mail
  const mails = await Promise.all(names.map((name) => readFile(path.join(outbox, name), 'utf8')));
  return mails.filter((mail) => mail.includes(recipient));
}

async function waitUntilReady(url: string, server: ChildProcess): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (server.exitCode === null && Date.now() < deadline) {
    try {
      if ((await fetch(`${url}/health/ready`)).ok) return;
    } catch {
      // not listening yet
    }
    await setTimeout(100);
  }
  const failure = server.exitCode === null ? 'is not ready after 30 s' : `ended with code ${server.exitCode}`;
  throw new Error(`The server at ${url} ${failure}.`);
}

async function stopProcess(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  await ended;
}

/** Returns a TCP port of the loopback interface on which no process is currently listening. */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  server.close();
  await once(server, 'close');
  if (address === null || typeof address === 'string')
    throw new Error('The operating system assigned no port.');
  return address.port;
}
