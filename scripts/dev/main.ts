/**
 * `npm run dev`: runs the API and the web app for development. The API restarts and the web app reloads when a source file changes, and
 * development accounts exist.
 *
 * The web app listens on PORT, as with `npm start`, and forwards API calls to the API, which listens on a free port. The data folder is
 * separate from that of `npm start`.
 */
import type { ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { exitCodeOf, main, root, serverCommand, start, toolCommand } from '../launcher/runtime.mjs';
import { findFreePort } from '../services/free-port.ts';
import { createAccounts, seededAccounts, seededAdmin } from './seed.ts';

/** Delay from a change to the restart of the API, because saving one file often causes several events. */
const restartDelayMs = 200;

await main(async () => {
  const { HOST: host = '127.0.0.1', PORT: port = '3000', DATA_DIR: dataDir = './data/dev' } = process.env;
  const apiPort = String(await findFreePort());
  const url = `http://${host}:${port}`;
  const stdio: ('ignore' | 'inherit')[] = ['ignore', 'inherit', 'inherit'];

  const web = start(
    [...toolCommand('vite'), 'packages/web', '--host', host, '--port', port, '--strictPort'],
    {
      env: { API_PORT: apiPort },
      stdio,
    },
  );
  const startApi = () =>
    start(serverCommand(), {
      env: {
        HOST: '127.0.0.1',
        PORT: apiPort,
        PUBLIC_URL: url,
        DATA_DIR: dataDir,
        ADMIN_EMAIL: seededAdmin.email,
        ADMIN_PASSWORD: seededAdmin.password,
      },
      stdio,
    });

  const stopController = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopController.abort());
  stopController.signal.addEventListener('abort', () => web.kill());
  // When the development server of the web app ends, the API is stopped, too.
  const webEnd = exitCodeOf(web).finally(() => stopController.abort());

  // Not awaited, because `createAccounts` waits for the API, which only `keepApiRunning` (below) starts.
  createAccounts(`http://127.0.0.1:${apiPort}`).then(
    () => {
      console.log(`\nOpen ${url} and sign in as one of:`);
      for (const { email, password, state } of seededAccounts) {
        console.log(`  ${email}  ${password}  (${state})`);
      }
    },
    (error) => console.error(`Creating the development accounts failed: ${String(error)}`),
  );

  await keepApiRunning(startApi, stopController.signal);
  return webEnd;
});

/**
 * Runs the API and restarts it when one of its source files changes, until `stopSignal` aborts.
 *
 * Node's `--watch` cannot be used: it sends messages through the IPC channel of every child process, and the API expects only its own
 * messages there.
 */
async function keepApiRunning(startApi: () => ChildProcess, stopSignal: AbortSignal): Promise<void> {
  const sources = new EventEmitter();
  for (const apiPackage of ['contract', 'annotations', 'slide', 'server']) {
    // The signal closes the watcher. `unref` has no effect on a recursive watcher, which would keep this process running.
    const options = { recursive: true, signal: stopSignal };
    watch(join(root, 'packages', apiPackage, 'src'), options, (_, file) => {
      if (!/[.]test[.]ts$/.test(file ?? '')) sources.emit('change');
    });
  }
  while (!stopSignal.aborted) {
    const api = startApi();
    const end = exitCodeOf(api);
    const change = once(sources, 'change', { signal: stopSignal }).catch(() => null); // null: `stopSignal` has aborted
    await Promise.race([change, end]);
    if (api.exitCode !== null || api.signalCode !== null) {
      console.log('The API has ended. It starts again when one of its source files changes.');
    }
    await change;
    await setTimeout(restartDelayMs);
    api.kill();
    await end;
  }
}
