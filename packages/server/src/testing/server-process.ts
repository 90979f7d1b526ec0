/** Real server processes for tests, and what is asked of them over the wire. */
import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { apiBase } from '@lamina/contract';

export interface ServerProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
  /** Tells it to end, and waits. @returns its exit code; null when a signal ended it */
  stop(): Promise<number | null>;
}

const testMain = path.join(import.meta.dirname, 'server-main.ts');
const main = path.join(import.meta.dirname, '../main.ts');
/** What Node has compiled once: a server then starts in half the time. */
const compiled = path.join(os.tmpdir(), 'lamina-compile-cache');

const usualSettings = {
  HOST: '127.0.0.1',
  PORT: '0',
  DEMO: 'off',
  LOG_LEVEL: 'silent',
  THROTTLE: 'off',
};

/**
 * @param databaseFile of the embedded database; null where the settings name another
 * @param env settings; nothing of the tester's own reaches the server
 * @throws when it ends before it listens
 */
export function startServerProcess(
  databaseFile: string | null,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  return start([testMain, ...(databaseFile === null ? [] : [databaseFile])], env);
}

/**
 * The program as it is delivered.
 *
 * @param env settings; nothing of the tester's own reaches the server
 * @param log where its log goes; `pipe`: to `process.stderr` of the result
 * @throws when it ends before it listens
 */
export function startProgram(
  env: Readonly<Record<string, string>>,
  log: 'inherit' | 'pipe' = 'inherit',
): Promise<ServerProcess> {
  return start([main], env, log);
}

async function start(
  commandLine: readonly string[],
  env: Readonly<Record<string, string>>,
  log: 'inherit' | 'pipe' = 'inherit',
): Promise<ServerProcess> {
  const child = spawn(process.execPath, commandLine, {
    env: { ...usualSettings, NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ['ignore', 'pipe', log],
  }) as ChildProcessByStdio<null, Readable, Readable | null>;
  const exit = once(child, 'exit') as Promise<[number | null]>;
  const lines = createInterface({ input: child.stdout });
  const address = await new Promise<string>((resolve, reject) => {
    lines.on('line', (line) => {
      const found = /(?:listening|running) at (http:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    void exit.then(() => reject(new Error('the server ended without a word')));
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

export interface WireAnswer {
  readonly status: number;
  /** Empty where the answer has none. */
  readonly body: Readonly<Record<string, unknown>>;
}

/** @throws TypeError when the connection breaks before the answer is whole */
export async function askServer(
  { address }: Pick<ServerProcess, 'address'>,
  method: string,
  url: string,
  { token, body }: { readonly token?: string; readonly body?: object } = {},
): Promise<WireAnswer> {
  const answer = await fetch(address + apiBase + url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const bytes = await answer.arrayBuffer();
  const isJson = answer.headers.get('content-type')?.startsWith('application/json') && bytes.byteLength > 0;
  return {
    status: answer.status,
    body: isJson ? (JSON.parse(Buffer.from(bytes).toString()) as WireAnswer['body']) : {},
  };
}
