/** Shuts a process down gracefully, within a time limit. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

/** Time limit for requests in flight after the server stopped accepting. */
const finishMs = 10_000;
/** Time after which the process exits even if a service does not close. */
const exitAfterMs = finishMs + 10_000;

/**
 * Stops the process on SIGTERM and SIGINT: reports "not ready" for DRAIN_SECONDS, stops accepting connections, finishes the
 * requests in flight, closes the services, exits.
 *
 * @param answered stops accepting and resolves when every request in flight has been answered
 * @param app the HTTP application, if this process serves requests
 */
export function stopOnSignal(
  services: Services,
  stopping: AbortController,
  answered: () => Promise<void>,
  app?: FastifyInstance,
): void {
  const stop = async () => {
    if (stopping.signal.aborted) return; // on Ctrl+C the terminal signals this process and npm, which signals again
    stopping.abort();
    const drainMs = services.config.drainSeconds * 1000;
    setTimeout(() => process.exit(1), drainMs + exitAfterMs).unref();
    setTimeout(() => app?.server.closeAllConnections(), drainMs + finishMs).unref();
    // The load balancer needs time to see that this process is not ready.
    if (app !== undefined) await wait(drainMs);
    await answered();
    await services.close();
    process.exit(); // do not wait for handles that are still open
  };
  const stopNow = () =>
    void stop().catch((error: unknown) => {
      services.log.fatal({ err: error }, 'graceful shutdown failed; the process exits at once');
      process.exit(1);
    });
  process.on('SIGTERM', stopNow);
  process.on('SIGINT', stopNow);
  // An unhandled rejection affects only one request or task, so the process continues.
  process.on('unhandledRejection', (error) =>
    services.log.error({ err: error }, 'unhandled promise rejection; the process continues'),
  );
  process.on('uncaughtException', (error) => {
    services.log.fatal({ err: error }, 'uncaught exception; the process stops');
    process.exitCode = 1;
    stopNow();
  });
}
