/** Large request bodies through HTTP: one account cannot fill the memory of the server with them. */
import net from 'node:net';
import { apiBase } from '@lamina/contract';
import { expect, it, onTestFinished, vi } from 'vitest';
import { testServer } from '../testing/test-server.ts';

const mebibyte = 2 ** 20;
const waitOptions = { timeout: 20_000, interval: 50 };

it('answers 503 to the third annotation file of 64 MiB that an account sends at the same time, until one of the others has ended', async () => {
  const { app, fixtures } = await testServer();
  const origin = await app.listen({ host: '127.0.0.1', port: 0 });
  const owner = await fixtures.user();
  const layer = await fixtures.layer({ owner_uid: owner.uid });
  const path = `${apiBase}/annotation-layers/${layer.id}/import`;
  const [token, tokenOfAnother] = [await fixtures.token(owner), await fixtures.token(await fixtures.user())];

  /** Begins a request whose body never arrives. */
  function beginRequest(bodyHeader: string): net.Socket {
    const { port, hostname } = new URL(origin);
    const socket = net.connect(Number(port), hostname);
    socket.on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    socket.write(
      `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${token}\r\nContent-Type: application/json\r\n${bodyHeader}\r\n\r\n`,
    );
    return socket;
  }
  /** Sends a file of 2 MiB that is no annotation file. */
  const send = (bearer: string) =>
    fetch(origin + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${bearer}`, 'content-type': 'application/json' },
      body: ' '.repeat(2 * mebibyte),
    });

  expect((await send(token)).status).toBe(400);
  const first = beginRequest(`Content-Length: ${64 * mebibyte}`);
  beginRequest('Transfer-Encoding: chunked'); // counts as a file of the maximum size
  await vi.waitFor(async () => expect((await send(token)).status).toBe(503), waitOptions);
  const refused = await send(token);
  expect(refused.headers.get('retry-after')).toBe('5');
  expect(await refused.json()).toMatchObject({ code: 'unavailable' });
  expect((await send(tokenOfAnother)).status).not.toBe(503);
  first.destroy();
  await vi.waitFor(async () => expect((await send(token)).status).toBe(400), waitOptions);
});
