/** Servers as child processes whose output goes to a log file. */
import { mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import { exitCodeOf, passSignalsTo, root, serverCommand, start } from '../launcher/runtime.mjs';
import { waitUntilReady } from '../services/api-client.ts';
import { findFreePort } from '../services/free-port.ts';

export interface LoggedProcess {
  readonly pid: number;
  /** Resolves with the exit code when the process ends. */
  readonly ended: Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts a program and passes it the signals of this process.
 *
 * @param logFile file to which its output is appended
 * @param cwd working directory; by default the root folder of the project
 */
export function startLogged(
  commandLine: readonly string[],
  logFile: string,
  env: NodeJS.ProcessEnv = {},
  cwd = root,
): LoggedProcess {
  mkdirSync(dirname(logFile), { recursive: true });
  const logDescriptor = openSync(logFile, 'a');
  const child = start(commandLine, { env, cwd, stdio: ['ignore', logDescriptor, logDescriptor] });
  const passedSignals = passSignalsTo(child);
  const ended = exitCodeOf(child).finally(() => passedSignals.release());
  if (child.pid === undefined) throw new Error(`${commandLine[0]} could not be started.`);
  return {
    pid: child.pid,
    ended,
    async stop() {
      child.kill();
      await ended;
    },
  };
}

export interface ServerProcess extends LoggedProcess {
  readonly port: number;
  /** Base URL. */
  readonly url: string;
}

/**
 * Starts the product on a free loopback port and waits until it is ready.
 *
 * @param wrap returns the command line to run in place of the server's, for example one that selects a processor
 * @param checkout folder of the product's code; by default this one
 */
export async function startServer(
  logFile: string,
  env: NodeJS.ProcessEnv,
  wrap: (commandLine: readonly string[]) => readonly string[] = (commandLine) => commandLine,
  checkout = root,
): Promise<ServerProcess> {
  const port = await findFreePort();
  const url = `http://127.0.0.1:${port}`;
  const settings = { HOST: '127.0.0.1', PORT: String(port), ...env };
  const child = startLogged(wrap(serverCommand()), logFile, settings, checkout);
  const failedStart = child.ended.then((code) => {
    throw new Error(`The server ended with exit code ${code}; its log is ${logFile}.`);
  });
  try {
    await Promise.race([waitUntilReady(url), failedStart]);
  } catch (error) {
    await child.stop();
    throw error;
  }
  failedStart.catch(() => {}); // the end of the ready server, for example after `stop`, is not a failed start
  return { ...child, port, url };
}
