/** Tests the metrics endpoint of the whole program, with one process and with several. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import http from 'node:http';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { freePort } from '../testing/load-balancer.ts';

const main = path.join(import.meta.dirname, '../main.ts');
const waitOptions = { timeout: 60_000, interval: 100 };

interface Running {
  readonly process: ChildProcess;
  readonly port: number;
  readonly metricsPort: number;
}

/** Starts the program and waits until all its processes listen. */
async function start(workers: number): Promise<Running> {
  const dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'lamina-metrics-'));
  const metricsPort = await freePort();
  const child = spawn(process.execPath, [main], {
    env: {
      WORKERS: String(workers),
      PORT: '0',
      METRICS_PORT: String(metricsPort),
      DATA_DIR: dataDir,
      SLIDES_DIR: path.join(dataDir, 'slides'),
      DEMO: 'off',
      LOG_LEVEL: 'info',
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let listeningCount = 0;
  const allListening = Promise.withResolvers<void>();
  createInterface({ input: child.stderr }).on('line', (line) => {
    if (line.includes('Server listening')) listeningCount++;
    if (listeningCount === workers) allListening.resolve();
  });
  onTestFinished(async () => {
    const ended = child.exitCode === null ? once(child, 'exit') : null;
    child.kill('SIGKILL');
    await ended;
    fs.rmSync(dataDir, { recursive: true, force: true });
  });
  const port = await new Promise<number>((resolve, reject) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      const found = /running at http:\S+:(\d+)/.exec(line)?.[1];
      if (found !== undefined) resolve(Number(found));
    });
    child.once('exit', () => reject(new Error('the server exited before it listened')));
  });
  await allListening.promise;
  return { process: child, port, metricsPort };
}

/** Returns the status of a GET over a new connection; the cluster distributes connections to the processes in turn. */
function statusOf(port: number, url: string): Promise<number> {
  return new Promise((resolve, reject) => {
    http
      .get({ port, path: url, agent: false }, (response) => {
        response.resume();
        response.on('end', () => resolve(response.statusCode ?? 0));
      })
      .on('error', reject);
  });
}

async function scrape({ metricsPort }: Running): Promise<string> {
  const answer = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return answer.text();
}

/** Returns the number of requests for /health/live in the metrics. */
const countLiveRequests = async (running: Running) => {
  const line = /^http_requests_total\{.*route="\/health\/live".*\} (\d+)$/m.exec(await scrape(running));
  return Number(line?.[1] ?? 0);
};

describe.skipIf(process.platform !== 'linux')('GET /metrics', () => {
  it('returns metrics, for example of CPU time and memory, at METRICS_PORT, and 404 at the public port', async () => {
    const running = await start(1);
    // A server that is not ready answers other requests with 503.
    await vi.waitFor(
      async () => expect(await statusOf(running.port, '/health/ready')).toBe(200),
      waitOptions,
    );
    for (let i = 0; i < 3; i++) expect(await statusOf(running.port, '/health/live')).toBe(200);
    expect(await countLiveRequests(running)).toBe(3);
    const page = await scrape(running);
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'process_open_fds',
      'process_start_time_seconds',
      'nodejs_eventloop_lag_seconds',
      'log_lines_lost_total',
      'http_connections',
    ]) {
      expect(page).toMatch(new RegExp(`^${name}(\\{.*\\})? [\\d.e+-]+$`, 'm'));
    }
    expect(await statusOf(running.metricsPort, '/')).toBe(404);
    expect(await statusOf(running.metricsPort, '/health/live')).toBe(404);
    expect(await statusOf(running.port, '/metrics')).toBe(404);
  });

  it('returns counters summed over all processes, which do not decrease when a process is killed', async () => {
    const running = await start(2);
    const requestCount = 8;
    // The sum may be too small at first, because a process that does not answer within a second counts with its last
    // known values.
    const expectRequests = (count: number) =>
      vi.waitFor(async () => expect(await countLiveRequests(running)).toBe(count), waitOptions);
    for (let i = 0; i < requestCount; i++) expect(await statusOf(running.port, '/health/live')).toBe(200);
    await expectRequests(requestCount);

    const [worker = 0] = httpWorkerIds(running);
    process.kill(worker, 'SIGKILL');
    await vi.waitFor(() => expect(httpWorkerIds(running)).not.toContain(worker), waitOptions);
    await expectRequests(requestCount);
    await vi.waitFor(() => expect(httpWorkerIds(running)).toHaveLength(2), waitOptions);
    expect(await statusOf(running.port, '/health/live')).toBe(200);
    await expectRequests(requestCount + 1);
  });
});

/** Returns the process ids of the HTTP worker processes. */
function httpWorkerIds({ process: { pid } }: Running): number[] {
  return fs
    .readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter((child) => child !== '' && commandOf(child).includes('main.ts'))
    .map(Number);
}

function commandOf(pid: string): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch {
    return ''; // the process has just exited
  }
}
