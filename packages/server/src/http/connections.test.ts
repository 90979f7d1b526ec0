import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { type ConnectionLimits, limitConnections, serverOptions } from './connections.ts';

/** Size in bytes of a response that does not fit into the buffers of a connection on this machine. */
const large = Buffer.alloc(64 * 1024 * 1024, 7);

async function listening(limits: ConnectionLimits) {
  const server = http.createServer(serverOptions, (request, response) => {
    // Only requests for /large get a response; all others stay open.
    if (request.url === '/large') response.end(large);
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

describe('a client connection', () => {
  it('is closed when its client stops reading the response', async () => {
    const { server, connect } = await listening({ stalledAfterMs: 300, maxConnections: 10 });
    const accepted = once(server, 'connection');
    const socket = await connect();
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    const [peer] = (await accepted) as [net.Socket];
    if (!peer.destroyed) await once(peer, 'close');
    expect(peer.bytesWritten).toBeLessThan(large.byteLength + 1024);
  });

  it('delivers the whole response to a client that reads slowly', async () => {
    const { connect } = await listening({ stalledAfterMs: 2000, maxConnections: 10 });
    const socket = await connect();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    let bytes = 0;
    for await (const piece of socket as AsyncIterable<Buffer>) {
      bytes += piece.byteLength;
      await new Promise((resolve) => setImmediate(resolve));
      if (bytes > large.byteLength) break;
    }
    expect(bytes).toBeGreaterThan(large.byteLength);
  });

  it('is closed at once when the server has reached its limit of connections', async () => {
    const { connections, connect } = await listening({ stalledAfterMs: 10_000, maxConnections: 2 });
    await connect();
    await connect();
    const third = await connect();
    third.resume();
    await once(third, 'close');
    expect(connections.count()).toBe(2);
  });
});

describe('the limit of connections per address', () => {
  /** All addresses of 127.0.0.0/8 are this machine; each one stands for a client. */
  const [attacker, visitor, proxy] = ['127.0.0.66', '127.0.0.7', '127.0.0.2'];
  const limits = {
    stalledAfterMs: 10_000,
    maxConnections: 40,
    maxPerAddress: 10,
    isUnlimited: (address: string) => address === proxy,
  };

  async function isKept(socket: net.Socket): Promise<boolean> {
    socket.resume();
    const closed = once(socket, 'close').then(() => false);
    return Promise.race([closed, new Promise<boolean>((resolve) => setTimeout(resolve, 150, true))]);
  }

  it('leaves connections for other clients when one client opens as many as possible', async () => {
    const { connections, connect } = await listening(limits);
    const opened = await Promise.all(Array.from({ length: 60 }, () => connect(attacker)));
    for (const socket of opened) socket.resume();
    await vi.waitFor(() => expect(opened.filter(({ closed }) => closed)).toHaveLength(50), {
      timeout: 10_000,
    });
    expect(await isKept(await connect(visitor))).toBe(true);
    expect(connections.count()).toBe(11);
    expect(connections.rejected()).toBe(50);
  });

  it('does not count closed connections', async () => {
    const { connections, connect } = await listening(limits);
    for (let round = 0; round < 3; round++) {
      const opened = await Promise.all(Array.from({ length: 10 }, () => connect(attacker)));
      expect(await Promise.all(opened.map(isKept))).not.toContain(false);
      for (const socket of opened) socket.destroy();
      await vi.waitFor(() => expect(connections.count()).toBe(0));
    }
  });

  it('does not apply to a trusted proxy, behind which every client has the same address', async () => {
    const { connect } = await listening(limits);
    const opened = await Promise.all(Array.from({ length: 30 }, () => connect(proxy)));
    expect(await Promise.all(opened.map(isKept))).not.toContain(false);
  });

  it('is logged once per address when it is reached, not once per rejected connection', async () => {
    const onLimit = vi.fn<(address: string) => void>();
    const { connect } = await listening({ ...limits, onLimit });
    await Promise.all(Array.from({ length: 30 }, () => connect(attacker).then(isKept)));
    expect(onLimit.mock.calls).toEqual([[attacker]]);
  });
});
