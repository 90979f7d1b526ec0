/** Starts and stops the program, nothing more. For people on stdout, for machines (JSON lines) on stderr. */
import './require-node.ts';
import cluster from 'node:cluster';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { buildApp } from './app.ts';
import { recordSettings } from './auditing/settings-entry.ts';
import { addressOf, type Config, ConfigError, configOfProcess } from './config.ts';
import { makeDemoSlides } from './demo/make-demo-slides.ts';
import { ensureFirstAdmin } from './first-admin.ts';
import { greet } from './processes/greeting.ts';
import { startServing } from './processes/serving-processes.ts';
import { stopOnSignal } from './processes/stop.ts';
import { createServices, type Services } from './services.ts';
import { createMadeElsewhere, type MadeTilesCalls, madeTilesCalls } from './slides/made-elsewhere.ts';
import { createMadeTiles, type MadeTiles } from './slides/made-tiles.ts';
import { createCaller } from './slides/process-calls.ts';
import { slideRoots } from './slides/slide-roots.ts';
import { openDatabase } from './store/database.ts';

interface Opened {
  readonly services: Services;
  /** Aborted when the process is about to end. */
  readonly stopping: AbortController;
  /** Told to `services` once it is known where the program answers. */
  answersAt(port: number): string;
}

async function open(config: Config, log: Logger, madeTiles: MadeTiles): Promise<Opened> {
  const stopping = new AbortController();
  const db = await openDatabase({ url: config.databaseUrl, file: path.join(config.dataDir, 'lamina.db') });
  let address = addressOf(config.host, config.port);
  const services = await createServices({
    config,
    db,
    log,
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

/** Everything in one process. */
async function startAlone(config: Config, log: Logger): Promise<void> {
  const { services, stopping, answersAt } = await open(config, log, createMadeTiles({ config, log }));
  const app = await buildApp(services);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettings(services, config);
  await app.listen({ host: config.host, port: config.port });
  stopOnSignal(services, stopping, () => app.close(), app);
  services.auditTrail.start();
  greet(config, answersAt(portOf(app)), firstAdmin);
  await showSlides(services);
}

/** Several processes answer; this one works for them. */
async function startServed(config: Config, log: Logger): Promise<void> {
  const madeTiles = createMadeTiles({ config, log });
  const { services, stopping, answersAt } = await open(config, log, madeTiles);
  const firstAdmin = await ensureFirstAdmin(services);
  await recordSettings(services, config);
  const serving = await startServing({ count: config.workers, calls: madeTilesCalls(madeTiles), log });
  if (serving === null) process.exit(1); // it has said why
  stopOnSignal(services, stopping, () => serving.stop());
  services.auditTrail.start();
  greet(config, answersAt(serving.port), firstAdmin);
  await showSlides(services);
}

/** One of several processes that answer. */
async function serve(config: Config, log: Logger): Promise<void> {
  const madeTiles = createMadeElsewhere(createCaller<MadeTilesCalls>(process));
  const { services, stopping, answersAt } = await open(config, log, madeTiles);
  const app = await buildApp(services);
  await app.listen({ host: config.host, port: config.port });
  answersAt(portOf(app));
  stopOnSignal(services, stopping, () => app.close(), app);
}

function start(config: Config, log: Logger): Promise<void> {
  if (cluster.isWorker) return serve(config, log);
  return config.workers === 1 ? startAlone(config, log) : startServed(config, log);
}

function portOf(app: FastifyInstance): number {
  const bound = app.server.address();
  if (bound === null || typeof bound === 'string') throw new Error('The server listens at no port.');
  return bound.port;
}

/** Shows what lies in the slide folders; where there is nothing at all, demonstration slides. */
async function showSlides({ config, catalogue, log, stopping }: Services): Promise<void> {
  try {
    await catalogue.start();
    if (!config.demo || !(await catalogue.isEmpty())) return;
    await makeDemoSlides({
      folder: slideRoots(config).demo,
      onProgress: (sentence) => console.log(sentence),
      signal: stopping,
    });
    await catalogue.rescan();
  } catch (error) {
    if (!stopping.aborted) log.error({ err: error }, 'the slides could not be shown');
  }
}

/** One sentence that a person can act upon. */
function sentenceOf(error: unknown, { host, port, dataDir }: Config): string {
  const { code, message } = error as NodeJS.ErrnoException;
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
  const log = pino(
    { level: config.logLevel, timestamp: pino.stdTimeFunctions.isoTime },
    pino.destination({ fd: 2, sync: false }),
  );
  try {
    await start(config, log);
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
