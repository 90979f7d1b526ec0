/** Tests the whole program with a log pipe that is never read. */
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startProgram } from '../testing/server-process.ts';

/** Number of requests. Each writes some hundred bytes to the log, together several times the size of a pipe buffer. */
const requestCount = 3000;

it.skipIf(process.platform === 'win32')(
  'a server whose log output no process reads answers 3,000 requests and exits normally at SIGTERM',
  async () => {
    const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-stalled-'));
    const settings = { DATA_DIR: dataDir, SLIDES_DIR: path.join(dataDir, 'slides'), LOG_LEVEL: 'info' };

    const { address, process: child } = await startProgram(settings, 'pipe');
    const exit = once(child, 'exit');
    onTestFinished(async () => {
      child.kill('SIGKILL');
      await exit;
      fs.rmSync(dataDir, { recursive: true, force: true });
    });
    const port = Number(new URL(address).port);
    const agent = new http.Agent({ keepAlive: true, maxSockets: 20 });
    const statuses = await Promise.all(
      Array.from(
        { length: requestCount },
        () =>
          new Promise<number | undefined>((resolve, reject) => {
            http
              .get({ port, path: '/health/live', agent }, (response) => {
                response.resume();
                response.on('end', () => resolve(response.statusCode));
              })
              .on('error', reject);
          }),
      ),
    );
    agent.destroy();
    expect(statuses.filter((status) => status !== 200)).toEqual([]);

    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  },
);
