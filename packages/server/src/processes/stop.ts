/** How a process ends: in order, or not at all for long. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

/** What is still being answered when no more is taken gets this long. */
const finishMs = 10_000;
/** What hangs even after that is left behind. */
const giveUpAfterMs = finishMs + 10_000;

/**
 * Not ready any more, then no new connections, then what is under way, then the rest.
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
    const drainMs = services.config.drainSeconds * 1000;
    setTimeout(() => process.exit(1), drainMs + giveUpAfterMs).unref();
    setTimeout(() => app?.server.closeAllConnections(), drainMs + finishMs).unref();
    // Whoever answers goes on for a while: a balancer has to see first that nothing new is wanted.
    if (app !== undefined) await wait(drainMs);
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
