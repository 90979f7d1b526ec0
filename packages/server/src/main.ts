/** Entry point of the server program. Messages for people go to stdout; startup errors and JSON log lines go to stderr. */
import './platform/require-node.ts';
import cluster from 'node:cluster';
import path from 'node:path';
import type { Logger } from 'pino';
import { ensureFirstAdmin } from './accounts/first-admin.ts';
import { buildApp } from './app.ts';
import { recordSettingsChange } from './audit/settings-event.ts';
import { registerDemoSlidesJob } from './catalogue/demo-slides.ts';
import { listenInCluster, listenOn } from './http/listening.ts';
import type { Jobs } from './jobs/jobs.ts';
import { type Config, ConfigError, configOfProcess, serverUrlOf } from './platform/config.ts';
import { createLog } from './platform/log.ts';
import { type HttpWorkerCalls, startHttpWorkers } from './processes/http-workers.ts';
import { startMetricsServer } from './processes/metrics-server.ts';
import { createProcessMetrics, type ProcessMetrics } from './processes/process-metrics.ts';
import { createRemoteJobs, type JobCalls, jobCalls } from './processes/remote-jobs.ts';
import { startErrorSentence } from './processes/start-error.ts';
import { printStartupMessage } from './processes/startup-message.ts';
import { stopOnSignal } from './processes/stop.ts';
import { warmUpTiles } from './routes/tile-warm-up.ts';
import { createServices, type Services } from './services.ts';
import { type ObjectStorage, openObjectStorage } from './slide-storage/object-storage.ts';
import { openDatabase } from './store/database.ts';
import { watchSafetyCopies } from './store/safety-copies.ts';
import { hideEnvironment } from './tiles/hide-environment.ts';
import { answerCalls, createCaller } from './tiles/process-calls.ts';
import {
  createRemoteTileClient,
  type RenderedTilesCalls,
  renderedTilesCalls,
} from './tiles/remote-tile-client.ts';
import { createRenderedTiles, type RenderedTiles } from './tiles/rendered-tiles.ts';

/** Objects that every kind of process creates before it starts its services. */
interface ProcessContext {
  readonly config: Config;
  readonly log: Logger;
  readonly processMetrics: ProcessMetrics;
  readonly objectStorage: ObjectStorage | null;
}

interface OpenedServices {
  readonly services: Services;
  /** Aborted when the process shuts down. */
  readonly stopping: AbortController;
  /**
   * Tells the services on which port the server listens, and returns the server's URL with this port. Links in e-mails use
   * this URL unless PUBLIC_URL is set.
   */
  setListeningPort(port: number): string;
}

async function openServices(
  { config, log, processMetrics, objectStorage }: ProcessContext,
  renderedTiles: RenderedTiles,
  jobs?: Jobs,
): Promise<OpenedServices> {
  const stopping = new AbortController();
  const db = await openDatabase({ url: config.databaseUrl, file: path.join(config.dataDir, 'lamina.db') });
  let serverUrl = serverUrlOf(config.host, config.port);
  const services = await createServices({
    config,
    db,
    log,
    metrics: processMetrics.metrics,
    objectStorage,
    renderedTiles,
    ...(jobs && { jobs }),
    publicUrl: () => config.publicUrl ?? serverUrl,
    stopping: stopping.signal,
  });
  return {
    services,
    stopping,
    setListeningPort(port) {
      serverUrl = serverUrlOf(config.host, port);
      return serverUrl;
    },
  };
}

/** Returns the source of rendered tiles for a process that has its own render workers. */
function createOwnRenderedTiles({ config, log, objectStorage }: ProcessContext): RenderedTiles {
  return createRenderedTiles({ config, log, objects: objectStorage?.reader ?? null });
}

/** Runs the whole server in one process. */
async function startSingle(context: ProcessContext): Promise<void> {
  const { config, log, processMetrics } = context;
  const { services, stopping, setListeningPort } = await openServices(
    context,
    createOwnRenderedTiles(context),
  );
  const app = await buildApp(services);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettingsChange(services, config);
  await startMetricsServer({ config, log, read: async () => [await processMetrics.read()] });
  await warmUpTiles({ config, log, signal: stopping.signal }); // V8 compiles the code that sends tiles before the first request
  const port = await listenOn(app, config);
  stopOnSignal({ services, stopping, finishRequests: () => app.close(), app });
  printStartupMessage(config, setListeningPort(port), firstAdmin);
  await startBackgroundWork(services);
}

/** Runs the primary process, which scans and renders for several HTTP worker processes. */
async function startPrimary(context: ProcessContext): Promise<void> {
  const { config, log, processMetrics } = context;
  const renderedTiles = createOwnRenderedTiles(context);
  const { services, stopping, setListeningPort } = await openServices(context, renderedTiles);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettingsChange(services, config);
  const httpWorkers = await startHttpWorkers({
    count: config.workers,
    // Functions that the HTTP worker processes call in this process through the channel between the processes.
    calls: { ...renderedTilesCalls(renderedTiles), ...jobCalls(services.jobs) },
    log,
  });
  if (httpWorkers === null) process.exit(1); // the first HTTP worker process has logged the reason
  await startMetricsServer({
    config,
    log,
    read: async () => [await processMetrics.read(), ...(await httpWorkers.metrics())],
  });
  stopOnSignal({ services, stopping, finishRequests: () => httpWorkers.stop() });
  printStartupMessage(config, setListeningPort(httpWorkers.port), firstAdmin);
  await startBackgroundWork(services);
}

/** Runs one of several HTTP worker processes. */
async function startHttpWorker(context: ProcessContext): Promise<void> {
  const { config, log, processMetrics } = context;
  const primary = createCaller<RenderedTilesCalls & JobCalls>(process); // calls functions in the primary process
  const { services, stopping, setListeningPort } = await openServices(
    context,
    createRemoteTileClient(primary),
    config.databaseUrl === null ? createRemoteJobs(primary, log) : undefined, // with PostgreSQL, all processes share a queue
  );
  // The primary process calls this function through the channel between the processes.
  const calls: HttpWorkerCalls = { metrics: () => processMetrics.read() };
  answerCalls(process, calls, (error) =>
    log.error(
      { err: error, workerPid: process.pid },
      'metrics of this HTTP worker process could not be read; GET /metrics returns its last known metrics, and reads them again at the next request',
    ),
  );
  const app = await buildApp(services);
  await warmUpTiles({ config, log, signal: stopping.signal }); // V8 compiles the code that sends tiles before the first request
  setListeningPort(await listenInCluster(app, config));
  stopOnSignal({ services, stopping, finishRequests: () => app.close(), app });
}

function start(context: ProcessContext): Promise<void> {
  if (cluster.isWorker) return startHttpWorker(context);
  return context.config.workers === 1 ? startSingle(context) : startPrimary(context);
}

/**
 * Starts the catalogue, uploads, jobs and the deletion of old safety copies of the database; creates demonstration slides
 * when there are no others.
 */
async function startBackgroundWork({ config, catalogue, uploads, jobs, now, log }: Services): Promise<void> {
  watchSafetyCopies({ config, now, log });
  registerDemoSlidesJob({ config, catalogue, jobs, onProgress: (sentence) => console.log(sentence) });
  await catalogue.start();
  uploads.start();
  await jobs.start();
}

process.umask(0o077); // only the user that runs the server can read the files that it writes
await hideEnvironment(); // otherwise render workers, which run as the same user, could read passwords in the environment variables
try {
  const config = configOfProcess();
  const { log, lostLines } = createLog({ level: config.logLevel }); // `lostLines` counts dropped log lines
  try {
    const processMetrics = createProcessMetrics(config, { lostLines });
    await start({ config, log, processMetrics, objectStorage: openObjectStorage({ config, log }) });
  } catch (error) {
    log.debug({ err: error }, 'server start failed; this log line contains the stack trace');
    console.error(startErrorSentence(error, config));
    process.exit(1);
  }
} catch (error) {
  if (!(error instanceof ConfigError)) throw error;
  console.error(error.message);
  process.exit(1);
}
