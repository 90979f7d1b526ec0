/**
 * `npm run dev`: the API and the web app, both reloading, with accounts to sign in with.
 *
 * PORT is the web app's address, as with `npm start`; it passes calls on to the API, which takes a
 * free port. Data is kept apart from that of `npm start`.
 */
import './require-node.mjs';
import { EventEmitter, once } from 'node:events';
import { watch } from 'node:fs';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { install } from './install.mjs';
import { endOf, main, root, server, start, tool } from './runtime.mjs';
import { seed, seededAccounts } from './seed.mjs';

/** One change is often several events: they are waited for this long. */
const settleMs = 200;

await main(async () => {
  await install();
  const { HOST: host = '127.0.0.1', PORT: port = '3000', DATA_DIR: dataDir = './data/dev' } = process.env;
  const apiPort = String(await freePort());
  const address = `http://${host}:${port}`;
  const { admin } = seededAccounts;
  const stdio = ['ignore', 'inherit', 'inherit'];

  const web = start([...tool('vite'), 'packages/web', '--host', host, '--port', port, '--strictPort'], {
    env: { API_PORT: apiPort },
    stdio,
  });
  const startApi = () =>
    start(server(), {
      env: {
        HOST: '127.0.0.1',
        PORT: apiPort,
        PUBLIC_URL: address,
        DATA_DIR: dataDir,
        ADMIN_EMAIL: admin.email,
        ADMIN_PASSWORD: admin.password,
      },
      stdio,
    });

  const stopping = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => stopping.abort());
  stopping.signal.addEventListener('abort', () => web.kill());
  const webEnd = endOf(web).finally(() => stopping.abort()); // neither is of use without the other

  seed(`http://127.0.0.1:${apiPort}`).then(
    () => {
      console.log(`\nOpen ${address} and sign in as one of:`);
      for (const { email, password, says } of Object.values(seededAccounts)) {
        console.log(`  ${email}  ${password}  (${says})`);
      }
    },
    (error) => console.error(`The accounts could not be made: ${error.message}`),
  );

  await keepRunning(startApi, stopping.signal);
  return webEnd;
});

/**
 * Run the API, and run it anew whenever one of its files changes, until told to stop.
 *
 * Node's own --watch has every process that the API starts report on the channel between the two,
 * where the API expects its own messages.
 */
async function keepRunning(startApi, stop) {
  const files = new EventEmitter();
  for (const name of ['contract', 'slide', 'server']) {
    watch(join(root, 'packages', name, 'src'), { recursive: true }, (_, file) => {
      if (!/[.]test[.]ts$/.test(file ?? '')) files.emit('change');
    }).unref();
  }
  while (!stop.aborted) {
    const api = startApi();
    const end = endOf(api);
    const change = once(files, 'change', { signal: stop }).catch(() => null); // null: told to stop
    await Promise.race([change, end]);
    if (api.exitCode !== null)
      console.log('The API has ended. It starts again when one of its files changes.');
    await change;
    await new Promise((resolve) => setTimeout(resolve, settleMs));
    api.kill();
    await end;
  }
}
