/** Runs the examples of docs/api-tokens.md, without changes, with curl. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { apiBase, grantDataset } from '@lamina/contract';
import { buildSvs } from '@lamina/slide/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SlideServer, slideServer } from '../testing/slide-server.ts';

const run = promisify(execFile);
const hasCurl = await run('curl', ['--version']).then(
  () => true,
  () => false,
);

const page = fs.readFileSync(path.join(import.meta.dirname, '../../../../docs/api-tokens.md'), 'utf8');
const examples = [...page.matchAll(/```sh\n([\s\S]*?)```/g)].map(([, text = '']) => text);

describe('the examples of docs/api-tokens.md', () => {
  let server: SlideServer;
  let environment: NodeJS.ProcessEnv;
  let folder: string;
  let svs: Uint8Array;

  beforeAll(async () => {
    server = await slideServer({ isShared: true });
    svs = await buildSvs();
    await server.put('Set/a.svs', svs);
    await server.rescan();
    const user = await server.fixtures.user();
    const admin = server.as(await server.fixtures.admin());
    await admin.call(grantDataset, { body: { dataset: 'Set', uid: user.uid, download: true } });
    const { token } = await server.fixtures.apiToken(user);
    const address = await server.app.listen({ host: '127.0.0.1', port: 0 });
    folder = fs.mkdtempSync(path.join(server.config.dataDir, 'examples-'));
    const [IMAGE] = [await server.idOf('a.svs')];
    environment = { PATH: process.env.PATH ?? '', LAMINA: address + apiBase, TOKEN: token, IMAGE };
  }, 60_000);
  afterAll(() => server.close());

  const options = () => ({ cwd: folder, env: environment });

  it.skipIf(!hasCurl)('for curl run without errors (skipped where curl is not installed)', async () => {
    const [list = '', pixels = '', original = '', ...others] = examples;
    expect(others).toEqual([]);
    const { stdout } = await run('sh', ['-ec', list], options());
    expect(JSON.parse(stdout)).toMatchObject({ images: [{ file_name: 'a.svs' }] });
    await run('sh', ['-ec', pixels], options());
    for (const name of ['thumbnail.jpg', 'tile.jpg'])
      expect([...fs.readFileSync(path.join(folder, name)).subarray(0, 2)]).toEqual([0xff, 0xd8]);
    await run('sh', ['-ec', original], options());
    expect(fs.statSync(path.join(folder, 'slide.svs')).size).toBe(svs.length);
  });
});
