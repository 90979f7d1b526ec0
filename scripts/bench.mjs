/**
 * `npm run bench`: how fast tiles come, from a server of its own with the demonstration slides.
 *
 * For every Deep Zoom level: all tiles once with nothing made before (cold), then once more (warm), each
 * with CONCURRENCY requests in flight. Client and server share the machine, so compare runs on the same
 * one only. Data stays in `data/bench`, where the slides are drawn at the first run.
 */
import './require-node.mjs';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { Agent, get } from 'node:http';
import { join } from 'node:path';
import { freePort } from './free-port.mjs';
import { install } from './install.mjs';
import { callApi, untilReady } from './product-api.mjs';
import { endOf, main, passSignalsTo, productNode, root, start } from './runtime.mjs';

const admin = { email: 'bench@example.org', password: 'as fast as glass' };

await main(async () => {
  await install();
  const concurrency = Number(process.env.CONCURRENCY ?? 16);
  const dataDir = join(root, 'data/bench');
  rmSync(join(dataDir, 'tiles'), { recursive: true, force: true });
  const port = String(await freePort());
  const began = performance.now();
  const server = start([productNode(), 'packages/server/src/main.ts'], {
    env: {
      PORT: port,
      HOST: '127.0.0.1',
      DATA_DIR: dataDir,
      SLIDES_DIR: join(dataDir, 'slides'),
      DEMO: 'on',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
      LOG_LEVEL: 'error',
    },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  passSignalsTo(server);
  const end = endOf(server);
  try {
    await Promise.race([measure(`http://127.0.0.1:${port}`, concurrency, began), failed(end)]);
  } finally {
    server.kill();
    await end;
  }
  return 0;
});

async function failed(end) {
  throw new Error(`The server ended with ${await end}.`);
}

async function measure(address, concurrency, began) {
  await untilReady(address);
  console.log(`ready after ${Math.round(performance.now() - began)} ms; ${concurrency} requests in flight\n`);
  const { token } = await callApi(address, 'POST', '/auth/login', { body: admin });
  const { session_id: session } = await callApi(address, 'POST', '/auth/image-session', { token });
  const agent = new Agent({ keepAlive: true, maxSockets: concurrency });

  for (const image of await whenReady(address, token)) {
    const proxy = `${address}/api/v1/image-catalog/proxy/${image.id}`;
    const opened = performance.now();
    const descriptor = (await fetchBytes(agent, `${proxy}/image.dzi?session=${session}`)).toString();
    const openMs = performance.now() - opened;
    const size = ['Width', 'Height', 'TileSize'].map((name) => numberIn(descriptor, name));
    const [width, height, tileSize] = size;
    console.log(
      `${image.file_name}: ${width} × ${height}, tiles of ${tileSize}, opened in ${openMs.toFixed(0)} ms`,
    );
    console.log('  level    tiles |   cold/s    p50    p99 |   warm/s    p50    p99   (ms)');
    const maxLevel = Math.ceil(Math.log2(Math.max(width, height)));
    for (let level = maxLevel; level >= 0; level -= 1) {
      const tiles = tilesOf(width, height, tileSize, maxLevel - level).map(
        (tile) => `${proxy}/image_files/${level}/${tile}.jpg?session=${session}`,
      );
      const cold = await load(agent, tiles, concurrency);
      const warm = await load(agent, tiles, concurrency);
      console.log(`  ${String(level).padStart(5)} ${String(tiles.length).padStart(8)} |${cold} |${warm}`);
    }
    console.log('');
  }
  agent.destroy();
}

/** The demonstration slides may have to be drawn first. */
async function whenReady(address, token) {
  for (;;) {
    const { images } = await callApi(address, 'GET', '/image-catalog/images', { token });
    const ready = images.filter(({ status }) => status === 'ready');
    if (ready.length > 0 && ready.length === images.length) return ready;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

/** Names of all tiles of a level that is `halvings` below full resolution. */
function tilesOf(width, height, tileSize, halvings) {
  const along = (pixels) => Math.ceil(Math.ceil(pixels / 2 ** halvings) / tileSize);
  const columns = along(width);
  return Array.from({ length: columns * along(height) }, (_, place) => {
    return `${place % columns}_${Math.floor(place / columns)}`;
  });
}

/** @returns tiles in a second, median and 99th percentile of the answer times, as columns */
async function load(agent, addresses, concurrency) {
  const times = [];
  const queue = addresses[Symbol.iterator]();
  const began = performance.now();
  const worker = async () => {
    for (const address of queue) {
      const asked = performance.now();
      await fetchBytes(agent, address);
      times.push(performance.now() - asked);
    }
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  const perSecond = (times.length * 1000) / (performance.now() - began);
  times.sort((a, b) => a - b);
  const at = (share) => (times[Math.floor(share * (times.length - 1))] ?? 0).toFixed(1).padStart(7);
  return `${perSecond.toFixed(0).padStart(9)}${at(0.5)}${at(0.99)}`;
}

async function fetchBytes(agent, address) {
  const [answer] = await once(get(address, { agent }), 'response');
  const chunks = [];
  for await (const chunk of answer) chunks.push(chunk);
  if (answer.statusCode !== 200) throw new Error(`${address}: ${answer.statusCode}`);
  return Buffer.concat(chunks);
}

function numberIn(descriptor, name) {
  return Number(new RegExp(`${name}="(\\d+)"`).exec(descriptor)?.[1]);
}
