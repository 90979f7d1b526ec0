/** Tests that another process of the same user cannot read secrets from the environment of the server's processes. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';

vi.setConfig({ testTimeout: 120_000 });

const main = path.join(import.meta.dirname, '../main.ts');
const CANARY = 'canary-canary-canary-canary-canary';
/** The user `nobody`, as which the server and the reader run if the test runs as root, who can read every environment. */
const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : null;

let folder: string;
afterEach(() => fs.rm(folder, { recursive: true, force: true }));

function environmentOf(processId: number): string {
  const { stdout } = spawnSync('cat', [`/proc/${processId}/environ`], { ...user, encoding: 'utf8' });
  return stdout;
}

/** Returns the ids of a process and all its descendants. */
async function processTree(processId: number): Promise<number[]> {
  const tasks = `/proc/${processId}/task`;
  const children: number[] = [];
  for (const task of await fs.readdir(tasks)) {
    const text = await fs.readFile(`${tasks}/${task}/children`, 'utf8');
    children.push(...text.split(' ').filter(Boolean).map(Number));
  }
  const subtrees = await Promise.all(children.map((child) => processTree(child)));
  return [processId, ...subtrees.flat()];
}

describe.skipIf(process.platform !== 'linux')('environment variables of the server processes', () => {
  it.each(['1', '2'])(
    'cannot be read by another process of the same user, with WORKERS=%s',
    async (workers) => {
      folder = await fs.mkdtemp(path.join(os.tmpdir(), 'hidden-environment-'));
      await fs.chmod(folder, 0o755);
      for (const name of ['data', 'slides']) {
        await fs.mkdir(path.join(folder, name));
        if (user) await fs.chown(path.join(folder, name), user.uid, user.gid);
      }
      const server = spawn(process.execPath, [main], {
        ...user,
        env: {
          HOST: '127.0.0.1',
          PORT: '0',
          DEMO: 'off',
          LOG_LEVEL: 'silent',
          WORKERS: workers,
          SECRET_KEY: CANARY,
          DATA_DIR: path.join(folder, 'data'),
          SLIDES_DIR: path.join(folder, 'slides'),
        },
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      try {
        await once(server.stdout, 'data'); // the server listens
        const expectHidden = async () => {
          const tree = await processTree(server.pid ?? 0);
          expect(tree.length).toBeGreaterThanOrEqual(workers === '1' ? 1 : 3);
          for (const processId of tree) expect(environmentOf(processId)).not.toContain(CANARY);
        };
        // The second HTTP worker process starts after the first listens.
        await vi.waitFor(expectHidden, { timeout: 60_000, interval: 500 });
        // Control: the reader can read the environment of an unprotected process.
        const plain = spawn('sleep', ['60'], { ...user, env: { SECRET_KEY: CANARY } });
        expect(environmentOf(plain.pid ?? 0)).toContain(CANARY);
        plain.kill();
      } finally {
        server.kill('SIGTERM');
        await once(server, 'exit');
      }
    },
  );
});
