/** Tests an upload during which the server is killed and started again. */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { apiBase } from '@lamina/contract';
import { expect, it, onTestFinished } from 'vitest';
import { askServer, type ServerProcess, startServerProcess } from '../testing/server-process.ts';
import { type SendRequest, sender, sha256Of } from './testing/send.ts';

const administrator = { email: 'admin@example.org', password: 'glass, stain and light' };
const slideBytes = 64 * 1024 * 1024;
const halfBytes = slideBytes / 2;
const partBytes = 8 * 1024 * 1024;

/** Signs in as the administrator and returns a function that sends requests. */
async function signInTo(server: ServerProcess): Promise<SendRequest> {
  const { body: session } = await askServer(server, 'POST', '/auth/login', { body: administrator });
  return async (method, url, { headers = {}, body } = {}) => {
    const isBytes = body instanceof Uint8Array;
    const response = await fetch(server.address + apiBase + url, {
      method,
      headers: {
        ...headers,
        authorization: `Bearer ${String(session.token)}`,
        ...(body && !isBytes && { 'content-type': 'application/json' }),
      },
      ...(body && { body: isBytes ? Buffer.from(body) : JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') && text !== '';
    return {
      status: response.status,
      headers: Object.fromEntries(response.headers),
      body: isJson ? JSON.parse(text) : text,
    };
  };
}

it('an upload resumes after the server was killed while it received a part, and stores all bytes of the slide', async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-interrupted-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true, force: true }));
  const dataDir = path.join(folder, 'data');
  fs.mkdirSync(path.join(folder, 'slides'));
  const start = async () => {
    const server = await startServerProcess(path.join(folder, 'lamina.db'), {
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(folder, 'slides'),
      ADMIN_EMAIL: administrator.email,
      ADMIN_PASSWORD: administrator.password,
    });
    onTestFinished(() => server.kill());
    return server;
  };
  const bytes = randomBytes(slideBytes);
  const announcement = { dataset: 'Böbrek', path: 'a.svs', files: { 'a.svs': bytes } };

  const killedServer = await start();
  const before = sender(await signInTo(killedServer));
  const { begun } = await before.begin(announcement);
  const { fileId } = await before.create(begun.upload.id, 'a.svs', slideBytes);
  for (let offset = 0; offset < halfBytes; offset += partBytes) {
    await before.part(fileId, offset, bytes.subarray(offset, offset + partBytes));
  }
  const partialFile = path.join(dataDir, 'uploads', 'partial', fileId);
  const interruptedPart = before.part(fileId, halfBytes, bytes.subarray(halfBytes)).catch(() => null);
  // Waits until the server has stored some bytes of this part.
  while (fs.statSync(partialFile).size <= halfBytes) await wait(5);
  await killedServer.kill();
  await interruptedPart;

  const after = sender(await signInTo(await start()));
  const again = await after.begin(announcement);
  expect(again.begun).toMatchObject({
    upload: { id: begun.upload.id, state: 'open' },
    files: [{ id: fileId, path: 'a.svs', state: 'open' }],
  });
  const offset = await after.offsetOf(fileId);
  expect(offset).toBeGreaterThanOrEqual(halfBytes);
  expect(offset).toBe(fs.statSync(partialFile).size);
  for (let position = offset; position < slideBytes; position += partBytes) {
    const { status } = await after.part(fileId, position, bytes.subarray(position, position + partBytes));
    expect(status).toBe(204);
  }
  expect((await after.finish(fileId, sha256Of(bytes))).status).toBe(202);
  await expect
    .poll(async () => (await after.list())[0]?.state, { timeout: 60_000, interval: 200 })
    .toBe('done');
  const storedBytes = fs.readFileSync(path.join(dataDir, 'uploads', 'slides', 'Böbrek', 'a.svs'));
  expect(sha256Of(storedBytes)).toBe(sha256Of(bytes));
  expect(fs.readdirSync(path.join(dataDir, 'uploads', 'partial'))).toEqual([]);
}, 120_000);
