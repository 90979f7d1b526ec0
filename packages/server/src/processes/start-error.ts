/** The sentence that tells the operator why the server could not start. */
import { sep } from 'node:path';
import { type Config, serverUrlOf } from '../platform/config.ts';

type SystemError = NodeJS.ErrnoException & {
  readonly port?: number;
  readonly address?: string;
  readonly hostname?: string;
};

type StartConfig = Pick<Config, 'host' | 'port' | 'dataDir' | 'metricsHost' | 'metricsPort'>;

/** Returns one sentence about a failed start that tells the operator what to do. */
export function startErrorSentence(error: unknown, config: StartConfig): string {
  const { message, cause } = error as Error;
  return (
    addressSentence(error as SystemError, config) ??
    folderSentence(error as SystemError, config) ??
    `${message}${cause instanceof Error ? ` (${cause.message})` : ''}`
  );
}

/** Returns the sentence about an address or port that cannot be used; null for another error. */
function addressSentence(
  { code, ...details }: SystemError,
  { host, port, metricsHost, metricsPort }: StartConfig,
): string | null {
  const isMetricsPort = metricsPort !== null && details.port === metricsPort;
  switch (code) {
    case 'EADDRINUSE':
      return isMetricsPort
        ? `METRICS_PORT=${metricsPort} is in use at ${metricsHost} by another program. Choose another port.`
        : `${serverUrlOf(host, port)} is in use by another program. Stop it, or choose another port, as in PORT=${port + 1} npm start.`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND': {
      const unknownHost = details.address ?? details.hostname;
      // When HOST and METRICS_HOST are equal, the port of the error tells which of the two servers failed.
      const isMetricsHost =
        metricsPort !== null && unknownHost === metricsHost && (isMetricsPort || host !== metricsHost);
      const setting = isMetricsHost ? `METRICS_HOST=${metricsHost}` : `HOST=${host}`;
      return `${setting} is not an address of this machine.`;
    }
    case 'EACCES': {
      if (details.port === undefined) return null; // the error is about a file
      const setting = isMetricsPort ? 'METRICS_PORT' : 'PORT';
      return `${setting}=${details.port} requires special rights. Choose a port above 1023.`;
    }
    default:
      return null;
  }
}

/** Returns the sentence about a data folder that cannot be used; null for another error. */
function folderSentence({ code = '', message, path }: SystemError, { dataDir }: StartConfig): string | null {
  // Errors of the database have no path; its file is in the data folder.
  if (path !== undefined && path !== dataDir && !path.startsWith(dataDir + sep)) return null;
  // SQLite reports READONLY and CANTOPEN also with an extended code, such as SQLITE_CANTOPEN_ISDIR.
  if (/^(EACCES|EPERM|EROFS|SQLITE_(READONLY|CANTOPEN|PERM))/.test(code))
    return `DATA_DIR=${dataDir} cannot be written: ${message}.`;
  if (code === 'EEXIST' || code === 'ENOTDIR') return `DATA_DIR=${dataDir} is not a folder: ${message}.`;
  if (/^(ENOSPC|EDQUOT|SQLITE_FULL)$/.test(code))
    return `The disk of DATA_DIR=${dataDir} has no space left: ${message}.`;
  return null;
}
