/** Starts real server processes for tests and sends requests to them over the network. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { apiBase } from '@lamina/contract';

export interface ServerProcess {
  readonly address: string; // base URL
  readonly process: ChildProcess;
  /** Kills the process without a shutdown, as a power failure would. */
  kill(): Promise<void>;
  /** Asks the process to stop, and waits until it has ended. @returns its exit code; null when a signal ended it */
  stop(): Promise<number | null>;
}

const testMain = path.join(import.meta.dirname, 'server-main.ts');
const productionMain = path.join(import.meta.dirname, '../main.ts');
/** Folder of Node's compile cache, with which a server starts in half the time. */
const compileCacheFolder = path.join(os.tmpdir(), 'lamina-compile-cache');

/** Default settings, which a test may override. With port 0, the operating system chooses a free port. */
const defaultSettings = {
  HOST: '127.0.0.1',
  PORT: '0',
  DEMO: 'off',
  LOG_LEVEL: 'silent',
  THROTTLE: 'off',
};

/**
 * Starts the server with cheap password hashes (server-main.ts) in its own process.
 *
 * @param databaseFile file of the SQLite database; null when the settings name another database
 * @param env settings; the server gets no other environment variables of the test process
 * @throws Error when the process ends before it listens
 */
export function startServerProcess(
  databaseFile: string | null,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  return start([testMain, ...(databaseFile === null ? [] : [databaseFile])], env);
}

/**
 * Starts the server with main.ts, as in production.
 *
 * @param env settings; the server gets no other environment variables of the test process
 * @param log destination of the log; with `pipe` the test reads it from `process.stderr` of the result
 * @throws Error when the process ends before it listens
 */
export function startProgram(
  env: Readonly<Record<string, string>>,
  log: 'inherit' | 'pipe' = 'inherit',
): Promise<ServerProcess> {
  return start([productionMain], env, log);
}

async function start(
  commandLine: readonly string[],
  env: Readonly<Record<string, string>>,
  log: 'inherit' | 'pipe' = 'inherit',
): Promise<ServerProcess> {
  const child = spawn(process.execPath, commandLine, {
    env: { ...defaultSettings, NODE_COMPILE_CACHE: compileCacheFolder, ...env },
    stdio: ['ignore', 'pipe', log],
  }) as ChildProcessByStdio<null, Readable, Readable | null>;
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      // server-main.ts prints `listening at`, and main.ts prints `running at`.
      const printedAddress = /(?:listening|running) at (http:\S+)/.exec(line)?.[1];
      if (printedAddress !== undefined) resolve(printedAddress);
    });
    void exit.then(() => reject(new Error('The server ended before it listened.')));
  });
  return {
    address,
    process: child,
    async kill() {
      child.kill('SIGKILL');
      await exit;
    },
    async stop() {
      child.kill('SIGTERM');
      return (await exit)[0];
    },
  };
}

export interface ServerAnswer {
  readonly status: number;
  /** Empty when the response is not JSON. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** Sends a request. @param url relative to the API base @throws TypeError when the connection breaks before the response is complete */
export async function askServer(
  { address }: Pick<ServerProcess, 'address'>,
  method: string,
  url: string,
  { token, body }: { readonly token?: string; readonly body?: object } = {},
): Promise<ServerAnswer> {
  const response = await fetch(address + apiBase + url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const bytes = await response.arrayBuffer();
  const isJson = response.headers.get('content-type')?.startsWith('application/json') && bytes.byteLength > 0;
  return {
    status: response.status,
    body: isJson ? (JSON.parse(Buffer.from(bytes).toString()) as ServerAnswer['body']) : {},
  };
}
