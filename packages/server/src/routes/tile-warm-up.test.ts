/** The warm-up of the fast path: before it listens, the server requests tiles of a temporary slide from itself. */
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { testServer } from '../testing/test-server.ts';
import { warmUpTiles } from './tile-warm-up.ts';

const never = new AbortController().signal;

describe('the warm-up of the fast path (which requests tiles of a temporary slide before the server listens)', () => {
  it('receives all tiles of its two rounds (500 tiles each) and leaves no audit event, image session, metric, log line or file', async () => {
    const { services, config, logged } = await testServer();
    const { metrics, log, db } = services;
    const tables = ['audit', 'image_sessions', 'images'] as const;
    const rows = () => Promise.all(tables.map((table) => db.selectFrom(table).selectAll().execute()));
    const figures = async () =>
      (await metrics.now()).filter(({ name }) => /^(http_|tile|slides_open|slide_errors)/.test(name));
    const before = { rows: await rows(), figures: await figures(), log: logged() };
    expect(await warmUpTiles({ config, log, signal: never, tileCount: 500 })).toBe(1000);
    expect({ rows: await rows(), figures: await figures(), log: logged() }).toEqual(before);
    expect(fs.readdirSync(path.join(config.dataDir, 'scratch'))).toEqual([]);
  });

  it('requests nothing with TILE_FAST_PATH=off', async () => {
    const { services, config } = await testServer({ config: { tileFastPath: false } });
    expect(await warmUpTiles({ config, log: services.log, signal: never })).toBe(0);
  });

  it('requests at most one tile for each connection when the server has been stopped already', async () => {
    const { services, config } = await testServer();
    const signal = AbortSignal.abort();
    const answered = await warmUpTiles({ config, log: services.log, signal, tileCount: 1e9 });
    expect(answered).toBeLessThan(100);
  });

  it('logs a failure, requests no tile and throws no error when the folder of the temporary slide cannot be created', async () => {
    const { services, config, logged } = await testServer();
    fs.writeFileSync(path.join(config.dataDir, 'scratch'), 'a file in place of the folder');
    expect(await warmUpTiles({ config, log: services.log, signal: never })).toBe(0);
    expect(logged()).toContain('"msg":"tile warm-up failed;');
  });
});
