/**
 * `npm run dev`: the API and the web app, both reloading, with accounts to sign in with.
 *
 * PORT is the web app's address, as with `npm start`; it passes calls on to the API, which takes a
 * free port. Data is kept apart from that of `npm start`.
 */
import './require-node.mjs';
import { freePort } from './free-port.mjs';
import { install } from './install.mjs';
import { endOf, main, passSignalsTo, productNode, start, tool } from './runtime.mjs';
import { seed, seededAccounts } from './seed.mjs';

await main(async () => {
  await install();
  const { HOST: host = '127.0.0.1', PORT: port = '3000', DATA_DIR: dataDir = './data/dev' } = process.env;
  const apiPort = String(await freePort());
  const address = `http://${host}:${port}`;
  const { admin } = seededAccounts;

  const api = start([productNode(), '--watch', '--watch-preserve-output', 'packages/server/src/main.ts'], {
    env: {
      HOST: '127.0.0.1',
      PORT: apiPort,
      PUBLIC_URL: address,
      DATA_DIR: dataDir,
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const web = start([...tool('vite'), 'packages/web', '--host', host, '--port', port, '--strictPort'], {
    env: { API_PORT: apiPort },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  const programs = [api, web];
  for (const program of programs) passSignalsTo(program);
  const ends = programs.map((program) => endOf(program));

  seed(`http://127.0.0.1:${apiPort}`).then(
    () => {
      console.log(`\nOpen ${address} and sign in as one of:`);
      for (const { email, password, says } of Object.values(seededAccounts)) {
        console.log(`  ${email}  ${password}  (${says})`);
      }
    },
    (error) => console.error(`The accounts could not be made: ${error.message}`),
  );

  // Neither is of use without the other.
  const code = await Promise.race(ends);
  for (const program of programs) program.kill('SIGTERM');
  await Promise.all(ends);
  return code;
});
