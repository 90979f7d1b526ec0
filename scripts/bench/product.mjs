/** The product, started as it is delivered, with the big slides and data of its own. */
import { mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { freePort } from '../free-port.mjs';
import { callApi, untilReady } from '../product-api.mjs';
import { endOf, passSignalsTo, server as serverCommand, start } from '../runtime.mjs';

export const administrator = { email: 'bench@example.org', password: 'as fast as glass' };

/**
 * @param ground as for `findPeers`
 * @returns `{ address, port, roots, token, images, tilePath, stop }`, when every slide has been read
 */
export async function startProduct({ slides, cache, pinned }, env = {}) {
  const port = await freePort();
  mkdirSync(join(cache, 'log'), { recursive: true });
  const log = openSync(join(cache, 'log', 'product.log'), 'a');
  const server = start(pinned(serverCommand()), {
    env: {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: join(cache, 'data'),
      SLIDES_DIR: slides,
      DEMO: 'off',
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
      IMAGE_SESSION_TTL: '86400',
      LOG_LEVEL: 'warn',
      ...env,
    },
    stdio: ['ignore', log, log],
  });
  const end = endOf(server);
  const signals = passSignalsTo(server);
  const stop = async () => {
    server.kill();
    await end;
    signals.release();
  };
  try {
    const address = `http://127.0.0.1:${port}`;
    await Promise.race([untilReady(address), ended(end)]);
    const { token } = await callApi(address, 'POST', '/auth/login', { body: administrator });
    const images = await whenRead(address, token);
    const { session_id: session } = await callApi(address, 'POST', '/auth/image-session', { token });
    const tilePath = (id, tile, by = session) =>
      `/api/v1/image-catalog/proxy/${id}/image_files/${tile}.jpeg?session=${by}`;
    return { address, port, roots: [server.pid], token, images, tilePath, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function ended(end) {
  throw new Error(`The product ended with ${await end}; its log is in the folder of the bench.`);
}

async function whenRead(address, token) {
  for (;;) {
    const { images } = await callApi(address, 'GET', '/image-catalog/images', { token });
    if (images.length >= 3 && images.every(({ status }) => status !== 'pending')) return images;
    await setTimeout(200);
  }
}
