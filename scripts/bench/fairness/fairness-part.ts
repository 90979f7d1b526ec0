/**
 * `npm run bench -- fairness`: measures how two heavy loads affect other accounts. In the first, one pending account signs in over 60
 * connections without a pause; in the second, one image session requests 1,600 tiles that must be rendered.
 *
 * Each load is measured three times on each of several installations: with SQLite and with PostgreSQL (if installed), without and with
 * two HTTP worker processes (WORKERS=2), and with SQLite also without the limit on repeated attempts (THROTTLE=off). Clients that sign in
 * send different client addresses in X-Forwarded-For, as a trusted reverse proxy would.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { Agent } from 'node:http';
import os from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { callApi } from '../../services/api-client.ts';
import { startPostgres } from '../../services/postgres.ts';
import { type BenchEnvironment, type BenchOptions, createEnvironment } from '../environment.ts';
import { quantile } from '../load/statistics.ts';
import { maxLevelOf, tilesOfLevel } from '../load/trace.ts';
import { createImageSession, type RunningProduct, startProduct } from '../product.ts';
import { describeMachine, markdownTable, publish } from '../report.ts';
import { bigSlide, slideNames } from '../slides/slides.ts';
import { request } from './request.ts';

type Row = Readonly<Record<string, string | number>>;

/** Number of measurements. */
interface Workload {
  /** How often each load is measured. */
  readonly repeats: number;
  /** Number of sign-ins of other accounts, and of rendered tiles of another account, that each repeat measures. */
  readonly probes: number;
}

/** The measured installations of the product, with their settings. */
const installations: readonly {
  readonly installation: string;
  readonly database: 'SQLite' | 'PostgreSQL';
  readonly env: NodeJS.ProcessEnv;
}[] = [
  { installation: 'SQLite', database: 'SQLite', env: {} },
  { installation: 'SQLite, THROTTLE=off', database: 'SQLite', env: { THROTTLE: 'off' } },
  { installation: 'SQLite, WORKERS=2', database: 'SQLite', env: { WORKERS: '2' } },
  { installation: 'PostgreSQL', database: 'PostgreSQL', env: {} },
  { installation: 'PostgreSQL, WORKERS=2', database: 'PostgreSQL', env: { WORKERS: '2' } },
];

const password = 'a slide a day, at least';
/** Connections over which the pending account signs in. */
const signInConnections = 60;
/** Number of uncached tiles that the heavy image session requests at the same time. */
const coldTiles = 1600;
/** Interval between two requests for `/health/live`. */
const healthIntervalMs = 20;

export async function fairnessPart({ isQuick }: BenchOptions): Promise<void> {
  const environment = await createEnvironment();
  const workload = isQuick ? { repeats: 1, probes: 5 } : { repeats: 3, probes: 20 };
  const signIns: Row[] = [];
  const tiles: Row[] = [];
  for (const { installation, env, database } of installations) {
    const postgres = database === 'PostgreSQL' ? await startPostgres() : null;
    if (database === 'PostgreSQL' && postgres === null) continue;
    try {
      const settings = { ...env, ...(postgres !== null && { DATABASE_URL: postgres.url }) };
      await measureInstallation(environment, settings, workload, (kind, row) => {
        console.log(`${installation}: ${JSON.stringify(row)}`);
        (kind === 'sign-ins' ? signIns : tiles).push({ installation, ...row });
      });
    } finally {
      await postgres?.stop();
    }
  }
  publish(
    'fairness',
    [
      describeMachine(),
      '',
      `Sign-ins of other accounts, each in a network of its own, while one pending account signs in over ${signInConnections} connections:`,
      '',
      markdownTable(signIns),
      '',
      `Rendered tiles of another account, one after the other, while one image session requests ${coldTiles}:`,
      '',
      markdownTable(tiles),
    ],
    { isQuick },
  );
}

/** Measures both loads on one installation. @param env its settings @param onRow receives each row of the result tables */
async function measureInstallation(
  environment: BenchEnvironment,
  env: NodeJS.ProcessEnv,
  { repeats, probes }: Workload,
  onRow: (kind: 'sign-ins' | 'tiles', row: Row) => void,
): Promise<void> {
  const cache = join(environment.cache, 'fairness');
  rmSync(cache, { recursive: true, force: true });
  mkdirSync(cache, { recursive: true });
  const product = await startProduct(
    { ...environment, cache },
    // Without a disk cache no tile is prerendered. All clients connect from one address, so its connection limit is raised.
    {
      TRUSTED_PROXIES: '127.0.0.1',
      CONNECTIONS_PER_ADDRESS: '10000',
      TILE_CACHE_BYTES: '0',
      ...env,
    },
  );
  try {
    for (let repeat = 0; repeat < repeats; repeat++) {
      const machineLoad = { 'load of the machine': (os.loadavg()[0] ?? 0).toFixed(1) };
      onRow('sign-ins', { ...machineLoad, ...(await measureSignIns(product, repeat, probes)) });
      onRow('tiles', { ...machineLoad, ...(await measureTiles(environment, product, repeat, probes)) });
    }
  } finally {
    await product.stop();
  }
}

/** Sends a sign-in with `password`. @param clientAddress IP address of the client */
const signIn = ({ port }: RunningProduct, email: string, clientAddress: string, agent?: Agent) =>
  request({ port, path: '/api/v1/auth/login', body: { email, password }, clientAddress, agent });

/** Registers an account; for the state `active`, the administrator then approves it. @returns its e-mail address */
async function createAccount(
  { url, token }: RunningProduct,
  email: string,
  state: 'pending' | 'active',
): Promise<string> {
  const { user } = await callApi<{ user: { uid: string } }>(url, 'POST', '/auth/register', {
    body: { email, password },
  });
  if (state === 'active') {
    await callApi(url, 'POST', `/admin/users/${user.uid}/approve`, { token, body: { role: 'viewer' } });
  }
  return email;
}

/** Requests `/health/live` every 20 ms. @returns a function that stops the requests and returns the p95 of the response times */
function watchHealth({ port }: RunningProduct): () => Promise<number> {
  const times: number[] = [];
  const stopController = new AbortController();
  const watching = (async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    while (!stopController.signal.aborted) {
      times.push((await request({ port, path: '/health/live', agent })).ms);
      await setTimeout(healthIntervalMs);
    }
    agent.destroy();
  })();
  return async () => {
    stopController.abort();
    await watching;
    return quantile(times, 0.95);
  };
}

/** Measures sign-ins of other accounts, one after the other, while one pending account signs in without a pause. */
async function measureSignIns(product: RunningProduct, repeat: number, probes: number): Promise<Row> {
  const pendingAccount = await createAccount(product, `stranger-${repeat}@example.org`, 'pending');
  const others: string[] = [];
  for (let n = 0; n < probes; n++) {
    others.push(await createAccount(product, `other-${repeat}-${n}@example.org`, 'active'));
  }
  const agent = new Agent({ keepAlive: true, maxSockets: signInConnections });
  const statuses = new Map<number, number>();
  const stopController = new AbortController();
  const signInLoops = Array.from({ length: signInConnections }, async () => {
    while (!stopController.signal.aborted) {
      countStatus(statuses, (await signIn(product, pendingAccount, '198.51.100.1', agent)).status);
    }
  });
  await setTimeout(1000); // until the load is constant
  const stopHealth = watchHealth(product);
  const responses = [];
  for (const [n, email] of others.entries()) {
    responses.push(await signIn(product, email, `192.0.2.${n + 1}`));
    await setTimeout(100); // ms between two sign-ins
  }
  const healthP95 = await stopHealth();
  stopController.abort();
  await Promise.all(signInLoops);
  agent.destroy();
  return {
    'signed in': `${responses.filter(({ status }) => status === 200).length} of ${probes}`,
    ...timesOf(responses),
    'health p95 ms': healthP95.toFixed(0),
    'responses to the pending account': describeStatuses(statuses),
  };
}

/** Measures a viewer of another part of the slide. Meanwhile one session requests 1,600 tiles together, and repeats failed requests. */
async function measureTiles(
  { tileSize }: BenchEnvironment,
  product: RunningProduct,
  repeat: number,
  probes: number,
): Promise<Row> {
  const createSessionFor = async (name: string) => {
    const email = await createAccount(product, `${name}-${repeat}@example.org`, 'active');
    const { token } = JSON.parse((await signIn(product, email, '192.0.2.250')).body) as { token: string };
    return createImageSession(product.url, token);
  };
  const floodingSession = await createSessionFor('flooding');
  const viewingSession = await createSessionFor('viewing');
  const slide = { ...bigSlide, tileSize };
  const nativeTiles = tilesOfLevel(slide, maxLevelOf(slide)); // full resolution, stored in the file
  const renderedTiles = tilesOfLevel(slide, maxLevelOf(slide) - 1); // not stored in the file
  const id = product.imageIdOf(slideNames.scan);
  const requestTile = (tiles: readonly string[], index: number, session: string, agent: Agent) =>
    request({
      port: product.port,
      path: product.tilePath(id, tiles.at(index % tiles.length) ?? '', session),
      agent,
    });

  // The viewing session has already opened the slide, so its connection does not wait behind the 1,600 new ones.
  const viewingAgent = new Agent({ keepAlive: true, maxSockets: 1 });
  await requestTile(nativeTiles, 0, viewingSession, viewingAgent);
  const floodingAgent = new Agent({ keepAlive: true, maxSockets: coldTiles });
  const statuses = new Map<number, number>();
  const stopController = new AbortController();
  /** Tiles that the flooding session has not received yet. */
  let waitingRequests = coldTiles;
  const tileLoops = Array.from({ length: coldTiles }, async (_, n) => {
    while (!stopController.signal.aborted) {
      const index = repeat * coldTiles + n; // other tiles in each repeat
      const { status } = await requestTile(renderedTiles, index, floodingSession, floodingAgent);
      countStatus(statuses, status);
      if (status === 200) break;
      await setTimeout(100 + 900 * Math.random()); // ms until the retry
    }
    waitingRequests--;
  });
  await setTimeout(500); // by then the server has received all requests
  const stopHealth = watchHealth(product);
  const rendered = [];
  const native = [];
  for (let n = 0; n < probes && waitingRequests > 0; n++) {
    // Negative indices count from the end of the list. The flooding session does not request these tiles.
    rendered.push(await requestTile(renderedTiles, -1 - repeat * probes - n, viewingSession, viewingAgent));
    native.push(await requestTile(nativeTiles, n * 97, viewingSession, viewingAgent)); // 97: tiles far from each other
    await setTimeout(50); // ms between two tiles
  }
  const stillWaiting = waitingRequests;
  const healthP95 = await stopHealth();
  stopController.abort();
  await Promise.all(tileLoops);
  floodingAgent.destroy();
  viewingAgent.destroy();
  return {
    rendered: `${rendered.filter(({ status }) => status === 200).length} of ${rendered.length}`,
    ...timesOf(rendered),
    'stored p95 ms': timesOf(native)['p95 ms'] ?? '',
    'health p95 ms': healthP95.toFixed(0),
    'requests of the load still waiting': stillWaiting,
    'responses to the load': describeStatuses(statuses),
  };
}

/** Returns the percentiles of the response times as cells of the result table. */
function timesOf(responses: readonly { readonly ms: number }[]): Record<string, string> {
  const times = responses.map(({ ms }) => ms);
  return {
    'p50 ms': quantile(times, 0.5).toFixed(0),
    'p95 ms': quantile(times, 0.95).toFixed(0),
    'longest ms': quantile(times, 1).toFixed(0),
  };
}

function countStatus(statuses: Map<number, number>, status: number): void {
  statuses.set(status, (statuses.get(status) ?? 0) + 1);
}

/** Returns the number of responses by status, for example "12 × 200, 3 × 429". */
function describeStatuses(statuses: ReadonlyMap<number, number>): string {
  return [...statuses]
    .sort(([a], [b]) => a - b)
    .map(([status, count]) => `${count} × ${status}`)
    .join(', ');
}
