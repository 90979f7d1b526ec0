/** Starts and stops the program, nothing more. For people on stdout, for machines (JSON lines) on stderr. */
import './require-node.ts';
import cluster from 'node:cluster';
import path from 'node:path';
import type { Logger } from 'pino';
import { buildApp } from './app.ts';
import { recordSettings } from './auditing/settings-entry.ts';
import { addressOf, type Config, ConfigError, configOfProcess } from './config.ts';
import { drawDemoSlidesOnce } from './demo/draw-demo-slides-once.ts';
import { ensureFirstAdmin } from './first-admin.ts';
import { listenAt, listenInCluster } from './http/listening.ts';
import { createLog } from './log.ts';
import { greet } from './processes/greeting.ts';
import { startMetricsServer } from './processes/metrics-server.ts';
import { createOwnMetrics, type OwnMetrics } from './processes/own-metrics.ts';
import { type ServingCalls, startServing } from './processes/serving-processes.ts';
import { stopOnSignal } from './processes/stop.ts';
import { createServices, type Services } from './services.ts';
import { createMadeElsewhere, type MadeTilesCalls, madeTilesCalls } from './slides/made-elsewhere.ts';
import { createMadeTiles, type MadeTiles } from './slides/made-tiles.ts';
import { type ObjectStorage, openObjectStorage } from './slides/object-storage.ts';
import { answerCalls, createCaller } from './slides/process-calls.ts';
import { openDatabase } from './store/database.ts';

/** What every kind of process begins with. */
interface Ground {
  readonly config: Config;
  readonly log: Logger;
  readonly own: OwnMetrics;
  readonly objectStorage: ObjectStorage | null;
}

interface Opened {
  readonly services: Services;
  /** Aborted when the process is about to end. */
  readonly stopping: AbortController;
  /** Told to `services` once it is known where the program answers. */
  answersAt(port: number): string;
}

async function open({ config, log, own, objectStorage }: Ground, madeTiles: MadeTiles): Promise<Opened> {
  const stopping = new AbortController();
  const db = await openDatabase({ url: config.databaseUrl, file: path.join(config.dataDir, 'lamina.db') });
  let address = addressOf(config.host, config.port);
  const services = await createServices({
    config,
    db,
    log,
    metrics: own.metrics,
    objectStorage,
    madeTiles,
    publicUrl: () => config.publicUrl ?? address,
    stopping: stopping.signal,
  });
  return {
    services,
    stopping,
    answersAt(port) {
      address = addressOf(config.host, port);
      return address;
    },
  };
}

function madeTilesOf({ config, log, objectStorage }: Ground): MadeTiles {
  return createMadeTiles({ config, log, objects: objectStorage?.reader ?? null });
}

/** Everything in one process. */
async function startAlone(ground: Ground): Promise<void> {
  const { config, log, own } = ground;
  const { services, stopping, answersAt } = await open(ground, madeTilesOf(ground));
  const app = await buildApp(services);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettings(services, config);
  await startMetricsServer({ config, log, read: async () => [await own.read()] });
  const port = await listenAt(app, config);
  stopOnSignal(services, stopping, () => app.close(), app);
  greet(config, answersAt(port), firstAdmin);
  await work(services);
}

/** Several processes answer; this one works for them. */
async function startServed(ground: Ground): Promise<void> {
  const { config, log, own } = ground;
  const madeTiles = madeTilesOf(ground);
  const { services, stopping, answersAt } = await open(ground, madeTiles);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettings(services, config);
  const serving = await startServing({ count: config.workers, calls: madeTilesCalls(madeTiles), log });
  if (serving === null) process.exit(1); // it has said why
  await startMetricsServer({
    config,
    log,
    read: async () => [await own.read(), ...(await serving.metrics())],
  });
  stopOnSignal(services, stopping, () => serving.stop());
  greet(config, answersAt(serving.port), firstAdmin);
  await work(services);
}

/** One of several processes that answer. */
async function serve(ground: Ground): Promise<void> {
  const { config, log, own } = ground;
  const madeTiles = createMadeElsewhere(createCaller<MadeTilesCalls>(process));
  const { services, stopping, answersAt } = await open(ground, madeTiles);
  const calls: ServingCalls = { metrics: () => own.read() };
  answerCalls(process, calls, (error) => log.error({ err: error }, 'the metrics could not be told'));
  const app = await buildApp(services);
  answersAt(await listenInCluster(app, config));
  stopOnSignal(services, stopping, () => app.close(), app);
}

function start(ground: Ground): Promise<void> {
  if (cluster.isWorker) return serve(ground);
  return ground.config.workers === 1 ? startAlone(ground) : startServed(ground);
}

/** Shows what lies in the slide folders, or demonstration slides where there is nothing; and all else nobody waits for. */
async function work({ config, catalogue, uploads, jobs }: Services): Promise<void> {
  drawDemoSlidesOnce({ config, catalogue, jobs, onProgress: (sentence) => console.log(sentence) });
  await catalogue.start();
  uploads.start();
  await jobs.start();
}

/** One sentence that a person can act upon. */
function sentenceOf(error: unknown, { host, port, dataDir, metricsHost, metricsPort }: Config): string {
  const { code, message, ...where } = error as NodeJS.ErrnoException & { readonly port?: number };
  if (code === 'EADDRINUSE' && metricsPort !== null && where.port === metricsPort) {
    return `METRICS_PORT=${metricsPort} is in use at ${metricsHost} by another program: choose another port.`;
  }
  if (code === 'EADDRINUSE') {
    return `${addressOf(host, port)} is in use by another program: end that, or choose another port, as in PORT=${port + 1} npm start.`;
  }
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND')
    return `HOST=${host} is not an address of this machine.`;
  if (code === 'EACCES' && port < 1024) return `PORT=${port} may not be used without special rights.`;
  if (code === 'EACCES' || code === 'EROFS') return `DATA_DIR=${dataDir} cannot be written: ${message}.`;
  const { cause } = error as Error;
  return `${message}${cause instanceof Error ? ` (${cause.message})` : ''}`;
}

process.umask(0o077); // what the server writes is for its owner alone
try {
  const config = configOfProcess();
  const { log, lostLines } = createLog({ level: config.logLevel });
  try {
    const own = createOwnMetrics(config, { lostLines });
    await start({ config, log, own, objectStorage: openObjectStorage({ config, log }) });
  } catch (error) {
    log.debug({ err: error }, 'the start failed');
    console.error(sentenceOf(error, config));
    process.exit(1);
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
