/** Real server processes for tests, and what is asked of them over the wire. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { apiBase } from '@lamina/contract';

export interface ServerProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
}

const main = path.join(import.meta.dirname, 'server-main.ts');
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
export async function startServerProcess(
  databaseFile: string | null,
  env: Readonly<Record<string, string>>,
): Promise<ServerProcess> {
  const child = spawn(process.execPath, [main, ...(databaseFile === null ? [] : [databaseFile])], {
    env: { ...usualSettings, NODE_COMPILE_CACHE: compiled, ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  for await (const line of createInterface({ input: child.stdout })) {
    const address = /listening at (http:\S+)/.exec(line)?.[1];
    if (address === undefined) continue;
    return {
      address,
      process: child,
      async kill() {
        child.kill('SIGKILL');
        await ended;
      },
    };
  }
  throw new Error('the server ended without a word');
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
