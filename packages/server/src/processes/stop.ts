/** The graceful shutdown of a process, within a time limit. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Services } from '../services.ts';

/** Time limit for requests in flight after the server has stopped accepting connections. */
const finishMs = 10_000;
/** Time after the end of DRAIN_SECONDS at which the process exits even if a service has not closed. */
const exitAfterMs = finishMs + 10_000;

interface StopOptions {
  readonly services: Services;
  /** Aborted at the first signal; from then on, the readiness check answers "not ready". */
  readonly stopping: AbortController;
  /** Stops accepting connections, and resolves when every request in flight has been answered. */
  readonly finishRequests: () => Promise<void>;
  /** The HTTP application, if this process serves requests. */
  readonly app?: FastifyInstance;
}

/**
 * Stops the process on SIGTERM, SIGINT and an uncaught exception: reports "not ready" for DRAIN_SECONDS, stops accepting connections,
 * finishes the requests in flight, closes the services, and exits. Logs unhandled rejections.
 */
export function stopOnSignal({ services, stopping, finishRequests, app }: StopOptions): void {
  const stop = async () => {
    // On Ctrl+C, the signal arrives twice: from the terminal, and from npm, which forwards it.
    if (stopping.signal.aborted) return;
    stopping.abort();
    const drainMs = services.config.drainSeconds * 1000;
    // The two timers enforce the time limits, whatever happens below.
    setTimeout(() => process.exit(1), drainMs + exitAfterMs).unref();
    setTimeout(() => app?.server.closeAllConnections(), drainMs + finishMs).unref();
    // A load balancer needs time to notice that this process is not ready.
    if (app !== undefined) await wait(drainMs); // the primary process does not answer requests
    await finishRequests();
    await services.close();
    process.exit(); // handles that are still open would keep the process running
  };
  const beginStop = () =>
    void stop().catch((error: unknown) => {
      services.log.fatal({ err: error }, 'graceful shutdown failed; the process exits immediately');
      process.exit(1);
    });
  process.on('SIGTERM', beginStop);
  process.on('SIGINT', beginStop);
  // An unhandled rejection affects only one request or task, so the process continues.
  process.on('unhandledRejection', (error) =>
    services.log.error(
      { err: error },
      'bug: unhandled promise rejection (stack trace in `err`); the process continues, but the work that failed was not completed',
    ),
  );
  process.on('uncaughtException', (error) => {
    services.log.fatal({ err: error }, 'uncaught exception; the process is shutting down');
    process.exitCode = 1;
    beginStop();
  });
}
