/** Tests clients that read or send very slowly: they take little memory and do not affect other clients (REL-15). */
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { apiBase } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { askServer, type ServerProcess, startServerProcess } from '../../testing/server-process.ts';
import { testServer } from '../../testing/test-server.ts';

const waitOptions = { timeout: 50_000, interval: 50 };
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const readerCount = 500;
/** Maximum memory for each slow client. */
const maxBytesPerReader = 128 * 1024;
/** The image is noise, so that its tiles have 40 kB and more, like tiles of dense tissue. */
const side = 1024;
const noise = (i: number) => 150 + ((Math.imul(i ^ (i >>> 15), 0x2c1b3c6d) >>> 13) & 31);
const picture = {
  width: side,
  height: side,
  rgb: Uint8Array.from({ length: side * side * 3 }, (_, i) => noise(i)),
};
const tiles = Array.from({ length: 16 }, (_, i) => `image_files/10/${i % 4}_${i >> 2}.jpg`);

interface Viewing {
  readonly server: ServerProcess;
  /** Path and query. */
  readonly addresses: readonly string[];
}

/** Starts a server in a child process with a slide, and opens an image session. */
async function startViewing(): Promise<Viewing> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-slow-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const slide = path.join(folder, 'slides/Tissue/a.svs');
  fs.mkdirSync(path.dirname(slide), { recursive: true });
  fs.writeFileSync(slide, await buildSvs({ ...picture, tileSize: 256, downsamples: [1], picture }));
  const server = await startServerProcess(path.join(folder, 'lamina.db'), {
    DATA_DIR: path.join(folder, 'data'),
    SLIDES_DIR: path.join(folder, 'slides'),
    ADMIN_EMAIL: admin.email,
    ADMIN_PASSWORD: admin.password,
  });
  onTestFinished(() => server.kill());
  const { token } = (await askServer(server, 'POST', '/auth/login', { body: admin })).body as {
    token: string;
  };
  const { images } = (await askServer(server, 'GET', '/image-catalog/images', { token })).body as {
    images: { id: string }[];
  };
  const { session_id } = (await askServer(server, 'POST', '/auth/image-session', { token })).body;
  const addresses = tiles.map(
    (tile) => `${apiBase}/image-catalog/proxy/${images[0]?.id}/${tile}?session=${session_id as string}`,
  );
  return { server, addresses };
}

/** Returns the memory of a process in bytes, from /proc. */
function residentBytes({ process: { pid } }: ServerProcess): number {
  const status = fs.readFileSync(`/proc/${pid}/status`, 'utf8');
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}

function connectTo({ address }: Pick<ServerProcess, 'address'>): net.Socket {
  const { hostname, port } = new URL(address);
  const socket = net.connect(Number(port), hostname);
  socket.on('error', () => undefined); // the server may close the connection
  onTestFinished(() => void socket.destroy());
  return socket;
}

describe('a client that reads or writes slowly', () => {
  it.skipIf(process.platform !== 'linux')(
    `takes at most ${maxBytesPerReader / 1024} KiB of server memory when ${readerCount} such clients are connected, and other clients get every tile`,
    async () => {
      const { server, addresses } = await startViewing();
      const ask = async (address: string) => {
        const answer = await fetch(server.address + address);
        return [answer.status, (await answer.arrayBuffer()).byteLength > 40_000] as const;
      };
      // First as many concurrent requests of fast clients, so that memory that any clients need is already allocated.
      const fastRequests = Array.from({ length: readerCount }, (_, i) =>
        ask(addresses[i % tiles.length] ?? ''),
      );
      for (const answer of await Promise.all(fastRequests)) expect(answer).toEqual([200, true]);
      const before = residentBytes(server);

      let startedCount = 0;
      for (let i = 0; i < readerCount; i++) {
        const socket = connectTo(server);
        socket.write(`GET ${addresses[i % tiles.length]} HTTP/1.1\r\nHost: x\r\n\r\n`);
        // The client reads only the beginning of the response.
        socket.once('data', () => {
          startedCount++;
          socket.pause();
        });
      }
      await vi.waitFor(() => expect(startedCount).toBe(readerCount), waitOptions);
      for (let round = 0; round < 20; round++) {
        for (const answer of await Promise.all(addresses.map(ask))) expect(answer).toEqual([200, true]);
      }
      expect((residentBytes(server) - before) / readerCount).toBeLessThan(maxBytesPerReader);
    },
  );

  it('is disconnected when it sends the headers of its request byte by byte for longer than headersTimeout', async () => {
    const { app } = await testServer();
    await app.listen({ host: '127.0.0.1', port: 0 });
    app.server.headersTimeout = 200; // instead of 10 s
    const { port } = app.server.address() as net.AddressInfo;
    const socket = connectTo({ address: `http://127.0.0.1:${port}` });
    let answer = '';
    socket.on('data', (text) => {
      answer += text.toString();
    });
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.write('GET /health/live HTTP/1.1\r\nHost: ');
    const sending = setInterval(() => socket.write('x'), 50);
    await ended;
    clearInterval(sending);
    expect(answer === '' || answer.startsWith('HTTP/1.1 408 ')).toBe(true);
  });
});
