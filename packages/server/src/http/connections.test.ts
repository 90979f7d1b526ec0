import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConnectionLimits, limitConnections, serverOptions } from './connections.ts';

/** A response that is too large for the socket buffers of a connection on this machine. */
const largeBody = Buffer.alloc(64 * 1024 * 1024, 7);

async function startServer(limits: ConnectionLimits) {
  const server = http.createServer(serverOptions, (request, response) => {
    // Only requests for /large get a response; all others stay open.
    if (request.url === '/large') response.end(largeBody);
  });
  const connections = limitConnections(server, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const connect = async (localAddress = '127.0.0.1') => {
    const socket = net.connect({ port, host: '127.0.0.1', localAddress }).on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  return { server, connections, connect };
}

describe('limitConnections (closes connections of an HTTP server above limits): a client connection', () => {
  it('is closed when its client has read nothing of the response for the time limit stalledAfterMs', async () => {
    const { server, connect } = await startServer({ stalledAfterMs: 300, maxConnections: 10 });
    const accepted = once(server, 'connection');
    const socket = await connect();
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    const [peer] = (await accepted) as [net.Socket];
    if (!peer.destroyed) await once(peer, 'close');
    expect(peer.bytesWritten).toBeLessThan(largeBody.byteLength + 1024);
  });

  it('stays open until a slowly reading client has received the whole response', async () => {
    const { connect } = await startServer({ stalledAfterMs: 2000, maxConnections: 10 });
    const socket = await connect();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    let bytes = 0;
    for await (const chunk of socket as AsyncIterable<Buffer>) {
      bytes += chunk.byteLength;
      await new Promise((resolve) => setImmediate(resolve));
      if (bytes > largeBody.byteLength) break;
    }
    expect(bytes).toBeGreaterThan(largeBody.byteLength);
  });

  it('is closed at once when the server already has the maximum number of connections', async () => {
    const { connections, connect } = await startServer({ stalledAfterMs: 10_000, maxConnections: 2 });
    await connect();
    await connect();
    const third = await connect();
    third.resume();
    await once(third, 'close');
    expect(connections.openCount()).toBe(2);
  });
});

describe('limitConnections (closes connections of an HTTP server above limits): the limit per client address', () => {
  /** All addresses of 127.0.0.0/8 are this machine; each one stands for a client. */
  const [attacker, visitor, proxy] = ['127.0.0.66', '127.0.0.7', '127.0.0.2'];
  const limits = {
    stalledAfterMs: 10_000,
    maxConnections: 40,
    maxPerAddress: 10,
    isUnlimited: (address: string) => address === proxy,
  };

  /** Returns whether the server leaves the connection open for 150 ms. */
  async function staysOpen(socket: net.Socket): Promise<boolean> {
    socket.resume();
    const closed = once(socket, 'close').then(() => false);
    return Promise.race([closed, new Promise<boolean>((resolve) => setTimeout(resolve, 150, true))]);
  }

  it('closes the connections of one client above the limit, and lets another client connect', async () => {
    const { connections, connect } = await startServer(limits);
    const opened = await Promise.all(Array.from({ length: 60 }, () => connect(attacker)));
    for (const socket of opened) socket.resume();
    await vi.waitFor(() => expect(opened.filter(({ closed }) => closed)).toHaveLength(60 - 10), {
      timeout: 10_000,
    });
    expect(await staysOpen(await connect(visitor))).toBe(true);
    expect(connections.openCount()).toBe(10 + 1);
    expect(connections.rejectedCount()).toBe(60 - 10);
  });

  it('counts only open connections, so a client can open new connections after it has closed others', async () => {
    const { connections, connect } = await startServer(limits);
    for (let round = 0; round < 3; round++) {
      const opened = await Promise.all(Array.from({ length: 10 }, () => connect(attacker)));
      expect(await Promise.all(opened.map(staysOpen))).not.toContain(false);
      for (const socket of opened) socket.destroy();
      await vi.waitFor(() => expect(connections.openCount()).toBe(0));
    }
  });

  it('does not apply to a trusted proxy, because all clients behind it have its address', async () => {
    const { connect } = await startServer(limits);
    const opened = await Promise.all(Array.from({ length: 30 }, () => connect(proxy)));
    expect(await Promise.all(opened.map(staysOpen))).not.toContain(false);
  });

  it('calls onLimit once when a client reaches the limit, not for each rejected connection', async () => {
    const onLimit = vi.fn<(address: string) => void>();
    const { connect } = await startServer({ ...limits, onLimit });
    await Promise.all(Array.from({ length: 30 }, () => connect(attacker).then(staysOpen)));
    expect(onLimit.mock.calls).toEqual([[attacker]]);
  });
});
