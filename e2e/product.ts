/** The built product, started as it is delivered: one process, its own data, its own slides. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';

export const administrator = { email: 'admin@example.org', password: 'glass, stain and light' };

export interface Product {
  readonly address: string;
  /** Where its slides lie. */
  readonly slidesDir: string;
  /** The letters to an address, as plain text; without a mail server they lie in the outbox folder. */
  mailsTo(address: string): Promise<string[]>;
  /** What the server has written so far, for the report of a failed test. */
  log(): string;
  stop(): Promise<void>;
}

/**
 * @param settings that differ from those of a fresh installation
 * @throws when the server ends before it is ready, with what it wrote
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
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const server = spawn(process.execPath, ['packages/server/src/main.ts'], {
    // Nothing of the tester's own settings reaches the server.
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
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
      await end(server);
      await rm(folder, { recursive: true, force: true });
    },
  };
  try {
    await untilReady(address, server);
  } catch (error) {
    await product.stop();
    throw new Error(`The server did not become ready.\n${output}`, { cause: error });
  }
  return product;
}

/** Copies a slide, since the product may only be shown files that belong to the test. */
export async function addSlide(slidesDir: string, dataset: string, source: string): Promise<void> {
  await mkdir(path.join(slidesDir, dataset), { recursive: true });
  await copyFile(source, path.join(slidesDir, dataset, path.basename(source)));
}

async function readMails(outbox: string, to: string): Promise<string[]> {
  const names = await readdir(outbox).catch(() => []); // made with the first letter
  const mails = await Promise.all(names.map((name) => readFile(path.join(outbox, name), 'utf8')));
  return mails.filter((mail) => mail.includes(to)).map(decodeQuotedPrintable);
}

/** ASCII is all that the tests look for. Source: RFC 2045 section 6.7. */
function decodeQuotedPrintable(text: string): string {
  return text
    .replace(/=\r?\n/g, '')
    .replace(/=([0-7][0-9A-F])/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}

async function untilReady(address: string, server: ChildProcess): Promise<void> {
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

async function end(server: ChildProcess): Promise<void> {
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
