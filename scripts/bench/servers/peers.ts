/**
 * The compared tile servers: the product, nginx with the same tiles as static files, OpenSlide's Deep Zoom generator
 * under gunicorn, and iipsrv (the server of IIPImage).
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { findCommand } from '../../services/find-command.ts';
import { findFreePort } from '../../services/free-port.ts';
import { type BenchEnvironment, environmentOf } from '../environment.ts';
import { measureResponseTime } from '../load/connection.ts';
import type { LoadTarget } from '../load/load-client.ts';
import { startProduct } from '../product.ts';
import { type LoggedProcess, startLogged } from '../server-process.ts';
import { slideNames } from '../slides/slides.ts';

/** Maximum time until a server responds after its start. */
const startTimeoutMs = 30_000;

export interface RunningServer extends LoadTarget {
  stop(): Promise<void>;
}

/** A tile server that the bench can start. */
export interface TileServer {
  readonly name: string;
  readonly version: string;
  /** True for this version and the other version of the product. */
  readonly isProduct?: boolean;
  /** True when the server cannot read the common slide (scan.svs) and gets another one. */
  readonly usesOtherSlide?: boolean;
  start(): Promise<RunningServer>;
  /** Removes rendered tiles of earlier runs; missing when the server keeps no tiles on disk. */
  clearCache?(): void;
}

/** A server that may be missing on this machine, in which case its version is undefined. */
type Candidate = Omit<TileServer, 'version'> & { readonly version: string | undefined };

const isInstalled = (server: Candidate): server is TileServer => server.version !== undefined;

/**
 * Returns the installed servers, and the names of the servers that are not installed.
 *
 * @param otherCheckout folder of another version of the product, which becomes a server of its own; null for none
 */
export function findServers(
  environment: BenchEnvironment,
  otherCheckout: string | null = null,
): {
  found: readonly TileServer[];
  absent: readonly string[];
} {
  const servers: Candidate[] = [
    nginxServer(environment),
    productServer('product', environment),
    ...(otherCheckout === null
      ? []
      : [productServer('other version', environmentOf(otherCheckout, environment))]),
    openSlideServer(environment),
    iipServer(environment),
  ];
  return {
    found: servers.filter(isInstalled),
    absent: servers.filter((server) => !isInstalled(server)).map(({ name }) => name),
  };
}

function productServer(name: string, environment: BenchEnvironment): Candidate {
  return {
    name,
    isProduct: true,
    version: process.version.replace('v', 'Node '),
    async start() {
      const running = await startProduct(environment);
      const scan = running.imageIdOf(slideNames.scan);
      // Loads the code for tiles with another slide, so that the time of the first tile consists only of opening the measured slide.
      await measureResponseTime(running.port, running.tilePath(running.imageIdOf(slideNames.seed), '0/0_0'));
      return { ...running, pathOf: (tile) => running.tilePath(scan, tile) };
    },
    clearCache: () => rmSync(join(environment.cache, 'data', 'tiles'), { recursive: true, force: true }),
  };
}

/** Returns the folder of the static files that nginx serves. */
export const staticFolderOf = (cache: string): string => join(cache, 'static');

function nginxServer({ cache, pin }: BenchEnvironment): Candidate {
  const command = findNginx();
  return {
    name: 'nginx',
    version: command === undefined ? undefined : versionIn(command, ['-v']),
    async start() {
      const port = await findFreePort();
      const site = `server { listen 127.0.0.1:${port}; root ${staticFolderOf(cache)}; }`;
      return waitUntilListening({
        port,
        processes: [startNginx({ cache, pin, site })],
        pathOf: (tile) => `/${tile}.jpg`,
      });
    },
  };
}

function findNginx(): string | undefined {
  return findCommand('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : undefined);
}

/** Starts nginx. @param options `site` is the `server` block of its configuration */
function startNginx({
  cache,
  pin,
  site,
}: Pick<BenchEnvironment, 'cache' | 'pin'> & { readonly site: string }): LoggedProcess {
  const folder = join(cache, 'nginx');
  mkdirSync(folder, { recursive: true });
  const configFile = join(folder, 'nginx.conf');
  const temporaryPaths = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    configFile,
    // If root starts nginx, its workers run by default as a user that may not read the folder.
    `${process.getuid?.() === 0 ? 'user root; ' : ''}worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log warn;
    events { worker_connections 4096; }
    http {
      access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;
      types { image/jpeg jpg; } ${temporaryPaths.join(' ')}
      ${site}
    }`,
  );
  const commandLine = [findNginx() ?? 'nginx', '-c', configFile, '-e', join(folder, 'error.log')];
  return startLogged(pin(commandLine), logFileOf(cache, 'nginx'));
}

function openSlideServer({ slides, tileSize, cache, pin }: BenchEnvironment): Candidate {
  const python = ['/usr/bin/python3', findCommand('python3')].find(
    (command) => command && spawnSync(command, ['-c', 'import openslide, gunicorn']).status === 0,
  );
  const printVersion = ['-c', 'import openslide; print(openslide.__library_version__)'];
  return {
    name: 'OpenSlide',
    version: python === undefined ? undefined : versionIn(python, printVersion),
    async start() {
      const port = await findFreePort();
      // Two worker processes with four threads each, and connections that stay open for 60 s without a request.
      const workers = ['-w', '2', '-k', 'gthread', '--threads', '4', '--keep-alive', '60'];
      const app = ['-b', `127.0.0.1:${port}`, '--chdir', import.meta.dirname, 'openslide_peer:app'];
      const commandLine = pin([python ?? 'python3', '-m', 'gunicorn', ...workers, ...app]);
      const server = startLogged(commandLine, logFileOf(cache, 'openslide'), {
        SLIDES: slides,
        TILE: String(tileSize),
        PYTHONDONTWRITEBYTECODE: '1',
      });
      const running = await waitUntilListening({
        port,
        processes: [server],
        pathOf: (tile) => `/${slideNames.scan}/${tile}.jpeg`,
      });
      await measureResponseTime(port, `/${slideNames.seed}/0/0_0.jpeg`); // loads the code, as `productServer` does
      return running;
    },
  };
}

function iipServer({ slides, cache, pin }: BenchEnvironment): Candidate {
  const command = ['/usr/lib/iipimage-server/iipsrv.fcgi', findCommand('iipsrv.fcgi')].find(
    (file) => file && existsSync(file),
  );
  const canRun = command !== undefined && findNginx() !== undefined;
  return {
    name: 'iipsrv',
    version: canRun ? (versionOfPackage('iipimage-server') ?? 'unknown version') : undefined,
    // iipsrv reads only slides with a level for every halving of the size, such as `halves.tif`.
    usesOtherSlide: true,
    async start() {
      // The port of nginx, and the ports of two iipsrv processes, to which nginx forwards the requests with FastCGI.
      const [port, ...workerPorts] = [await findFreePort(), await findFreePort(), await findFreePort()];
      const workers = workerPorts.map((workerPort) =>
        startLogged(
          pin([command ?? 'iipsrv.fcgi', '--bind', `127.0.0.1:${workerPort}`, '--backlog', '1024']),
          logFileOf(cache, 'iipsrv'),
          {
            FILESYSTEM_PREFIX: `${slides}/`,
            VERBOSITY: '0',
            LOGFILE: join(cache, 'log', 'iipsrv.txt'),
            JPEG_QUALITY: '75',
            MAX_IMAGE_CACHE_SIZE: '10', // MB
            CODEC_PASSTHROUGH: '1', // sends JPEG tiles of the file unchanged
          },
        ),
      );
      const parameters = {
        QUERY_STRING: '$query_string',
        REQUEST_METHOD: 'GET',
        REQUEST_URI: '$request_uri',
        SERVER_PROTOCOL: '$server_protocol',
        HTTP_HOST: '$host',
      };
      const fastCgi = Object.entries(parameters).map(([name, value]) => `fastcgi_param ${name} ${value};`);
      const upstream = workerPorts.map((workerPort) => `server 127.0.0.1:${workerPort};`).join(' ');
      const site = `upstream iip { ${upstream} }
        server { listen 127.0.0.1:${port}; location /fcgi { fastcgi_pass iip; ${fastCgi.join(' ')} } }`;
      return waitUntilListening({
        port,
        processes: [...workers, startNginx({ cache, pin, site })],
        pathOf: (tile) => `/fcgi?DeepZoom=${slideNames.halves}_files/${tile}.jpg`,
      });
    },
  };
}

const logFileOf = (cache: string, name: string) => join(cache, 'log', `${name}.log`);

interface StartedServer {
  readonly port: number;
  readonly processes: readonly LoggedProcess[];
  readonly pathOf: (tile: string) => string;
}

/** Waits until the server on the port responds to a request, with any status. Fails after 30 s. */
async function waitUntilListening({ port, processes, pathOf }: StartedServer): Promise<RunningServer> {
  const stop = async () => {
    await Promise.all(processes.map((child) => child.stop()));
  };
  const deadline = Date.now() + startTimeoutMs;
  for (;;) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return { port, processIds: processes.map(({ pid }) => pid), pathOf, stop };
    } catch (error) {
      if (Date.now() > deadline) {
        await stop();
        throw error;
      }
      await setTimeout(20);
    }
  }
}

/** Returns the first version number in the output of a command; undefined when there is none. */
function versionIn(command: string, args: readonly string[]): string | undefined {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0];
}

/** Returns the version of a Debian package; undefined when the package is not installed. */
function versionOfPackage(name: string): string | undefined {
  const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f', `\${Version}`, name], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
