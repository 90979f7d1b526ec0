import { once } from 'node:events';
import http from 'node:http';
import net, { type AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type ConnectionLimits, guardConnections, serverOptions } from './connections.ts';

/** More than the buffers of a connection on this machine hold. */
const large = Buffer.alloc(64 * 1024 * 1024, 7);

async function listening(limits: ConnectionLimits) {
  const server = http.createServer(serverOptions, (request, response) => {
    // Nothing is answered before somebody says so.
    if (request.url === '/large') response.end(large);
  });
  const connections = guardConnections(server, limits);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  const connect = async () => {
    const socket = net.connect(port, '127.0.0.1').on('error', () => undefined);
    onTestFinished(() => void socket.destroy());
    await once(socket, 'connect');
    return socket;
  };
  return { server, connections, connect };
}

describe('a connection', () => {
  it('whose client reads nothing any more ends', async () => {
    const { server, connect } = await listening({ stalledAfterMs: 300, mostConnections: 10 });
    const accepted = once(server, 'connection');
    const socket = await connect();
    socket.pause();
    socket.write('GET /large HTTP/1.1\r\nHost: x\r\n\r\n');
    const [peer] = (await accepted) as [net.Socket];
    if (!peer.destroyed) await once(peer, 'close');
    expect(peer.bytesWritten).toBeLessThan(large.byteLength + 1024);
  });

  it('whose client reads slowly gets everything', async () => {
    const { connect } = await listening({ stalledAfterMs: 2000, mostConnections: 10 });
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

  it('beyond those that there may be is closed at once', async () => {
    const { connections, connect } = await listening({ stalledAfterMs: 10_000, mostConnections: 2 });
    await connect();
    await connect();
    const third = await connect();
    third.resume();
    await once(third, 'close');
    expect(connections.count()).toBe(2);
  });
});
