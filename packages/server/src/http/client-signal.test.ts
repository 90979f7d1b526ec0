import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { clientSignalOf } from './client-signal.ts';

/** Starts a server and returns the response of its first request, together with that request. */
async function firstRequest() {
  const server = http.createServer().listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  const requested = once(server, 'request');
  const client = http.get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port });
  client.on('error', () => {}); // the test ends the connection
  const [, response] = (await requested) as [http.IncomingMessage, http.ServerResponse];
  return { client, response };
}

it('clientSignalOf (AbortSignal for the client of a request) returns a signal that is aborted when the client disconnects before the response is complete', async () => {
  const { client, response } = await firstRequest();
  const signal = clientSignalOf(response);
  expect(signal.aborted).toBe(false);
  client.destroy();
  await once(response, 'close');
  expect(signal.aborted).toBe(true);
});

it('clientSignalOf (AbortSignal for the client of a request) returns an aborted signal when the client has disconnected before the call', async () => {
  const { client, response } = await firstRequest();
  client.destroy();
  await once(response, 'close');
  expect(clientSignalOf(response).aborted).toBe(true);
});

it('clientSignalOf (AbortSignal for the client of a request) returns a signal that is not aborted when the response is complete', async () => {
  const { client, response } = await firstRequest();
  client.on('response', (message) => message.resume());
  const closed = once(response, 'close');
  response.end('done');
  await closed;
  expect(clientSignalOf(response).aborted).toBe(false);
});
