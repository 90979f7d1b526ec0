/** Runs the examples of docs/python.md without changes. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { apiBase, grantDataset } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

const run = promisify(execFile);
const hasPython = await run('python3', ['--version']).then(
  () => true,
  () => false,
);

const page = fs.readFileSync(path.join(import.meta.dirname, '../../../../docs/python.md'), 'utf8');
const examples = [...page.matchAll(/```python\n([\s\S]*?)```/g)].map(([, text = '']) => text);

describe.skipIf(!hasPython)('the examples of docs/python.md (skipped where Python is not installed)', () => {
  let server: SlideServer;
  let folder: string;
  let id: string;
  let svs: Uint8Array;
  let python: (example: number) => Promise<string>;

  beforeAll(async () => {
    server = await slideServer({ isShared: true });
    svs = await buildSvs();
    await server.put('Set/a.svs', svs);
    await server.rescan();
    id = await server.idOf('a.svs');
    const user = await server.fixtures.user();
    const admin = server.as(await server.fixtures.admin());
    await admin.call(grantDataset, { body: { dataset: 'Set', uid: user.uid, download: true } });
    const { token } = await server.fixtures.apiToken(user);
    const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    folder = fs.mkdtempSync(path.join(server.config.dataDir, 'examples-'));
    const env = { PATH: process.env.PATH ?? '', LAMINA: address + apiBase, TOKEN: token, IMAGE: id };
    python = async (example) =>
      (await run('python3', ['-c', examples[example] ?? ''], { cwd: folder, env })).stdout;
  }, 60_000);
  afterAll(() => server?.close());

  it('"list slides and download thumbnails" runs without errors', async () => {
    expect(await python(0)).toMatch(new RegExp(`^${id} a\\.svs 480 400 `));
    expect(fs.existsSync(path.join(folder, `${id}.jpg`))).toBe(true);
  });

  it('"read a region" runs without errors', async () => {
    await python(1);
    const region = await sharp(path.join(folder, 'region.png')).metadata();
    expect([region.format, region.width, region.height]).toEqual(['png', 200, 100]);
  });

  it('"read a part of an original" runs without errors', async () => {
    expect(await python(2)).toBe(`206 ${svs.length} b'II*\\x00'\n`);
  });

  it('"write annotations" runs without errors', async () => {
    expect(await python(3)).toBe('From Python True\n');
    const rows = await server.services.db.selectFrom('annotation_layers').select('name').execute();
    expect(rows).toEqual([{ name: 'From Python' }]);
  });

  it('are exactly four, as many as have a test in this file', () => expect(examples).toHaveLength(4));
});
