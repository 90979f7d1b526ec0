/** Tests a server whose disk with the database and the tile cache is full, and also the disk of its log (REL-3, REL-4). */
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { buildSvs } from '@lamina/slide/testing';
import SqliteDatabase from 'better-sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { askServer } from '../../testing/server-process.ts';
import {
  commandOnSmallDisk,
  fillDisk,
  isSmallDiskPossible,
  pathSeenByProcess,
} from '../../testing/small-disk.ts';

const main = path.join(import.meta.dirname, '../../main.ts');
const admin = { email: 'admin@example.org', password: 'bir-parola-1' };
const diskBytes = 32 * 1024 * 1024;
const waitOptions = { timeout: 50_000, interval: 20 };
/** Tiles that have to be rendered; no test has requested them before. */
const renderedTiles = ['8/0_0', '8/1_0', '8/0_1', '8/1_1', '6/0_0'];

interface Running {
  readonly address: string;
  readonly process: ChildProcess;
  /** Path by which the test can read the data folder on the small disk. */
  readonly dataDir: string;
}

/** Starts the server with its data folder on a small disk and its log on a full one (/dev/full). */
async function startOnSmallDisk(): Promise<Running> {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-disk-'));
  const dataDir = path.join(folder, 'data');
  fs.mkdirSync(dataDir);
  fs.mkdirSync(path.join(folder, 'slides/Tissue'), { recursive: true });
  const svs = await buildSvs({ width: 480, height: 400, tileSize: 128, downsamples: [1, 4] });
  fs.writeFileSync(path.join(folder, 'slides/Tissue/a.svs'), svs);
  const fullLog = fs.openSync('/dev/full', 'w');
  const [command = '', ...args] = commandOnSmallDisk(dataDir, diskBytes);
  const child = spawn(command, [...args, process.execPath, main], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(folder, 'slides'),
      DEMO: 'off',
      THROTTLE: 'off',
      LOG_LEVEL: 'info',
      ADMIN_EMAIL: admin.email,
      ADMIN_PASSWORD: admin.password,
    },
    stdio: ['ignore', 'pipe', fullLog],
  });
  fs.closeSync(fullLog);
  onTestFinished(() => {
    child.kill('SIGKILL');
    fs.rmSync(folder, { recursive: true, force: true });
  });
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout as NodeJS.ReadableStream }).on('line', (line) => {
      const found = /running at (http:\S+)/.exec(line)?.[1];
      if (found !== undefined) resolve(found);
    });
    child.once('exit', () => reject(new Error('The server ended before it listened.')));
  });
  return { address, process: child, dataDir: pathSeenByProcess(child.pid, dataDir) };
}

/** Checks a copy of the database, because SQLite cannot open a path in the mount namespace of another process. */
function checkIntegrity(dataDir: string): unknown {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-copy-'));
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  for (const name of ['lamina.db', 'lamina.db-wal']) {
    fs.copyFileSync(path.join(dataDir, name), path.join(folder, name));
  }
  const database = new SqliteDatabase(path.join(folder, 'lamina.db'));
  try {
    return database.pragma('integrity_check', { simple: true });
  } finally {
    database.close();
  }
}

const isPossible = isSmallDiskPossible();

describe.skipIf(!isPossible)(
  `a server whose disk is full${isPossible ? '' : ' (skipped: this machine lets a test have no disk of its own)'}`,
  () => {
    it('returns 503 to sign-ins and registrations, still sends slides and tiles, and accepts all requests when space is free again', async () => {
      const server = await startOnSmallDisk();
      const ask = (method: string, url: string, more: { token?: string; body?: object } = {}) =>
        askServer(server, method, url, more);
      const signIn = async () => ask('POST', '/auth/login', { body: admin });
      const { token } = (await signIn()).body as { token: string };
      const list = async () =>
        (await ask('GET', '/image-catalog/images', { token })).body.images as {
          id: string;
          status: string;
        }[];
      await vi.waitFor(async () => expect(await list()).toMatchObject([{ status: 'ready' }]), waitOptions);
      const imageId = (await list())[0]?.id;
      const newSession = () => ask('POST', '/auth/image-session', { token });
      const { session_id: session } = (await newSession()).body as { session_id: string };
      const pixels = async (what: string) =>
        (await ask('GET', `/image-catalog/proxy/${imageId}/${what}?session=${session}`)).status;
      expect(await pixels('image.dzi')).toBe(200);

      const filler = path.join(server.dataDir, 'filler');
      fillDisk(filler);
      // SQLite can still write to free pages of its files, so the test fills the disk until a write fails.
      await vi.waitFor(async () => {
        fs.rmSync(`${filler}-2`, { force: true });
        fillDisk(`${filler}-2`);
        expect(await newSession()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      }, waitOptions);
      expect(await signIn()).toMatchObject({ status: 503, body: { code: 'unavailable' } });
      const person = { email: 'yeni@example.org', password: 'uzun-bir-şifre' };
      expect(await ask('POST', '/auth/register', { body: person })).toMatchObject({
        status: 503,
        body: { code: 'unavailable' },
      });

      expect((await ask('GET', '/user/profile', { token })).status).toBe(200);
      expect(await list()).toMatchObject([{ status: 'ready' }]);
      for (const what of ['image.dzi', 'thumbnail.jpg', 'image_files/9/1_1.jpg']) {
        expect([what, await pixels(what)]).toEqual([what, 200]);
      }
      // Tiles are rendered and served without being cached.
      for (const tile of renderedTiles) expect(await pixels(`image_files/${tile}.jpg`)).toBe(200);
      expect((await fetch(`${server.address}/health/live`)).status).toBe(200);

      fs.rmSync(filler);
      fs.rmSync(`${filler}-2`);
      await vi.waitFor(async () => expect((await newSession()).status).toBe(201), waitOptions);
      expect((await signIn()).status).toBe(200);
      expect((await ask('POST', '/auth/register', { body: person })).status).toBe(201);
      for (const tile of renderedTiles) expect(await pixels(`image_files/${tile}.jpg`)).toBe(200);

      expect(server.process.exitCode).toBeNull();
      server.process.kill('SIGSTOP'); // so that the database does not change while it is copied
      expect(checkIntegrity(server.dataDir)).toBe('ok');
    });
  },
);
