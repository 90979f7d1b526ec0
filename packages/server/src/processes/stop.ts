/** How a process ends: in order, or not at all for long. */
import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

/** What is still being answered when the process is told to end gets this long. */
const drainMs = 10_000;
/** What hangs even after that is left behind. */
const giveUpMs = drainMs + 10_000;

/**
 * Not ready any more, then no new requests, then what is under way, then the rest.
 *
 * @param answered resolves when every request that had come has been answered, and no more are taken
 * @param app of this process, if it answers
 */
export function stopOnSignal(
  services: Services,
  stopping: AbortController,
  answered: () => Promise<void>,
  app?: FastifyInstance,
): void {
  const stop = async () => {
    if (stopping.signal.aborted) return; // a terminal sends its Ctrl+C to us and to npm, which passes it on
    stopping.abort();
    setTimeout(() => process.exit(1), giveUpMs).unref();
    setTimeout(() => app?.server.closeAllConnections(), drainMs).unref();
    await answered();
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
