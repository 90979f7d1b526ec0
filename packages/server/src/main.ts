/** Starts and stops the process, nothing more. For people on stdout, for machines (JSON lines) on stderr. */
import './require-node.ts';
import fs from 'node:fs';
import path from 'node:path';
import type { FastifyInstance } from 'fastify';
import pino, { type Logger } from 'pino';
import { buildApp } from './app.ts';
import { addressOf, type Config, ConfigError, configOfProcess } from './config.ts';
import { makeDemoSlides } from './demo/make-demo-slides.ts';
import { ensureFirstAdmin, type FirstAdmin, firstAdminFile } from './first-admin.ts';
import { createServices, type Services } from './services.ts';
import { slideRoots } from './slides/slide-roots.ts';
import { openDatabase } from './store/database.ts';

/** What is still being answered when the process is told to end gets this long. */
const drainMs = 10_000;
/** What hangs even after that is left behind. */
const giveUpMs = drainMs + 10_000;

async function start(config: Config, log: Logger): Promise<void> {
  const stopping = new AbortController();
  const db = await openDatabase({
    url: config.databaseUrl,
    file: path.join(config.dataDir, 'lamina.db'),
  });
  const address = () => addressOf(config.host, portOf(app) ?? config.port);
  const services = await createServices({
    config,
    db,
    log,
    publicUrl: () => config.publicUrl ?? address(),
    stopping: stopping.signal,
  });
  const app = await buildApp(services);
  const firstAdmin = await ensureFirstAdmin(services);
  await app.listen({ host: config.host, port: config.port });

  stopOnSignal(app, services, stopping);
  greet(config, address(), firstAdmin);
  await showSlides(services);
}

function portOf(app: FastifyInstance): number | undefined {
  const bound = app.server.address();
  return typeof bound === 'object' ? bound?.port : undefined;
}

function greet(config: Config, address: string, firstAdmin: FirstAdmin | null): void {
  console.log(`
${config.productName} is running at ${config.publicUrl ?? address}

  Sign in   ${howToSignIn(config, firstAdmin).join('\n            ')}
  Slides    ${config.slidesDir} (one folder for each dataset)
  Stop      Ctrl+C
`);
}

function howToSignIn({ dataDir }: Config, firstAdmin: FirstAdmin | null): string[] {
  if (firstAdmin?.password) {
    return [
      `${firstAdmin.email}   password: ${firstAdmin.password}`,
      `shown this once, and kept in ${firstAdmin.passwordFile}`,
    ];
  }
  if (firstAdmin) return [`${firstAdmin.email}, with the password of the settings`];
  const file = firstAdminFile(dataDir);
  if (!fs.existsSync(file)) return ['with your account'];
  return [`with your account; the first administrator's password is kept in ${file}`];
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

/** Not ready any more, then no new connections, then what is under way, then the rest. */
function stopOnSignal(app: FastifyInstance, services: Services, stopping: AbortController): void {
  const stop = async () => {
    if (stopping.signal.aborted) return; // a terminal sends its Ctrl+C to us and to npm, which passes it on
    stopping.abort();
    setTimeout(() => process.exit(1), giveUpMs).unref();
    setTimeout(() => app.server.closeAllConnections(), drainMs).unref();
    await app.close();
    await services.close();
    process.exit(); // whatever still holds the process has nothing left to do
  };
  const stopNow = () =>
    void stop().catch((error: unknown) => {
      services.log.fatal({ err: error }, 'the process could not stop in order');
      process.exit(1);
    });
  process.on('SIGTERM', stopNow);
  process.on('SIGINT', stopNow);
  // A fault of one request is no reason to end all others.
  process.on('unhandledRejection', (error) => services.log.error({ err: error }, 'nobody waited for this'));
  process.on('uncaughtException', (error) => {
    services.log.fatal({ err: error }, 'a fault that nobody caught');
    process.exitCode = 1;
    stopNow();
  });
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
