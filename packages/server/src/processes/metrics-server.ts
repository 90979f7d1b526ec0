/** Answers Prometheus, at a port of its own that is not for the public: what all processes of the program have counted. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { MetricNow } from '../metrics/counted.ts';
import { metricsContentType, metricsPage } from '../metrics/metrics-page.ts';

interface Plan {
  readonly config: Pick<Config, 'metricsHost' | 'metricsPort'>;
  readonly log: Logger;
  /** The metrics of each process. */
  read(): Promise<readonly (readonly MetricNow[])[]>;
}

export interface MetricsServer {
  readonly port: number;
  close(): void;
}

/** @returns null where no port is set. @throws when the port cannot be had */
export async function startMetricsServer({ config, log, read }: Plan): Promise<MetricsServer | null> {
  const { metricsHost: host, metricsPort: port } = config;
  if (port === null) return null;
  const limits = { headersTimeout: 5000, requestTimeout: 5000, keepAliveTimeout: 60_000 };
  const server = createServer(limits, (request, response) => {
    const isAsked = request.url === '/metrics' && (request.method === 'GET' || request.method === 'HEAD');
    if (!isAsked) {
      response.writeHead(404).end();
      return;
    }
    read()
      .then(async (processes) => {
        const page = await metricsPage(processes);
        response.writeHead(200, { 'Content-Type': metricsContentType }).end(page);
      })
      .catch((error: unknown) => {
        log.error({ err: error }, 'the metrics could not be told');
        response.writeHead(500).end();
      });
  });
  server.maxConnections = 16;
  server.unref(); // nobody who asks for metrics holds a process that is to end
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
