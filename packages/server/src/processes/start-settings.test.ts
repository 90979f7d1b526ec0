/** Tests settings that take effect at the start of the whole program, in a child process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { freePort } from '../testing/load-balancer.ts';

const main = path.join(import.meta.dirname, '../main.ts');
const timeout = 60_000;

function start(settings: Readonly<Record<string, string>>): ChildProcess {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-start-'));
  const child = spawn(process.execPath, [main], {
    env: { PORT: '0', DATA_DIR: dataDir, SLIDES_DIR: path.join(dataDir, 'slides'), DEMO: 'off', ...settings },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await ended;
    fs.rmSync(dataDir, { recursive: true, force: true });
  });
  return child;
}

/** Returns the port that the startup message names. */
async function portOf({ stdout }: ChildProcess): Promise<number> {
  if (stdout === null) throw new Error('the program has no output');
  for await (const line of createInterface({ input: stdout })) {
    const port = /running at http:\S+:(\d+)/.exec(line)?.[1];
    if (port !== undefined) return Number(port);
  }
  throw new Error('the program did not start');
}

/** An IPv4 address of this machine that is not a loopback address. */
const ownAddress = Object.values(os.networkInterfaces())
  .flat()
  .find((candidate) => candidate?.family === 'IPv4' && !candidate.internal)?.address;

/** Opens connections and closes them after 1.5 s. @returns the number of those that the server had not closed */
async function countOpenConnections(host: string, port: number, count: number): Promise<number> {
  const sockets = Array.from({ length: count }, () => net.connect(port, host));
  for (const socket of sockets) {
    onTestFinished(() => void socket.destroy());
    socket.on('error', () => undefined);
    socket.resume();
  }
  await wait(1500);
  const openCount = sockets.filter(({ readyState }) => readyState === 'open').length;
  for (const socket of sockets) socket.destroy();
  return openCount;
}

describe.skipIf(process.platform !== 'linux')('the server program', () => {
  it.skipIf(ownAddress === undefined).each(['1', '2'])(
    'with WORKERS=%s closes connections above CONNECTIONS_PER_ADDRESS (per process) from a network address, but none from 127.0.0.1',
    { timeout },
    async (WORKERS) => {
      const settings = { WORKERS, HOST: '0.0.0.0', CONNECTIONS_PER_ADDRESS: '5', LOG_LEVEL: 'silent' };
      const port = await portOf(start(settings));
      // The program prints the port when the first process listens; the others listen later.
      await expect
        .poll(() => countOpenConnections(ownAddress ?? '', port, 40), { timeout: 40_000 })
        .toBe(5 * Number(WORKERS)); // each process counts its own connections
      expect(await countOpenConnections('127.0.0.1', port, 40)).toBe(40);
      expect((await fetch(`http://127.0.0.1:${port}/health/live`)).status).toBe(200);
    },
  );

  it.each(['HOST', 'METRICS_HOST'])(
    'exits with an error that names the setting %s when its value is not an address of this machine',
    { timeout },
    async (name) => {
      const settings = { [name]: '203.0.113.1', METRICS_PORT: String(await freePort()), LOG_LEVEL: 'silent' };
      const child = start(settings);
      if (child.stderr === null) throw new Error('the program has no output');
      expect(await text(child.stderr)).toContain(`${name}=203.0.113.1 is not an address of this machine.`);
    },
  );
});
