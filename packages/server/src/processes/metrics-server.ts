/** The HTTP server at a separate port from which Prometheus reads the metrics of all processes of the program. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import { metricsContentType, metricsPage } from '../metrics/metrics-page.ts';
import type { MetricNow } from '../metrics/prometheus-types.ts';
import type { Config } from '../platform/config.ts';

interface MetricsServerOptions {
  readonly config: Pick<Config, 'metricsHost' | 'metricsPort'>;
  readonly log: Logger;
  /** Returns the metrics of each process. */
  read(): Promise<readonly (readonly MetricNow[])[]>;
}

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** Starts the server. @returns null without METRICS_PORT @throws an error when the port is in use or not allowed */
export async function startMetricsServer({
  config,
  log,
  read,
}: MetricsServerOptions): Promise<MetricsServer | null> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === null) return null;
  const limits = { headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 60_000 }; // in milliseconds
  const server = createServer(limits, (request, response) => {
    const isMetricsRequest =
      request.url === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isMetricsRequest) {
      response.writeHead(404).end();
      return;
    }
    read()
      .then(async (processes) => {
        const page = await metricsPage(processes);
        response.writeHead(200, { 'Content-Type': metricsContentType }).end(page);
      })
      .catch((error: unknown) => {
        log.error(
          { err: error },
          'metrics of the server processes could not be read; GET /metrics responded with 500',
        );
        response.writeHead(500).end();
      });
  });
  server.maxConnections = 16; // a limit for other clients; Prometheus needs only a few
  server.unref(); // the listening socket does not keep the process running; `close` ends the connections
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
