/**
 * The tile servers that are compared, started and stopped alike: the product, and what people put up today.
 *
 * A peer is `{ name, version, start }`; `start` answers with the running server, `{ port, roots, pathOf, stop }`, where
 * `roots` are its processes and `pathOf` the address of a tile (`level/column_row`) of the slide that is measured.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { onPath } from '../chromium.mjs';
import { freePort } from '../free-port.mjs';
import { endOf, passSignalsTo, start } from '../runtime.mjs';
import { timeOf } from './connection.mjs';
import { startProduct } from './product.mjs';
import { slideNames } from './slides.mjs';

const upWithinMs = 30_000;

/**
 * @param ground `{ slides, tileSize, cache, pinned }`: folder of slides, pixels of a tile, folder for everything else,
 *   and what puts a command line on the servers' processor
 * @returns those that are installed, and the names of the others
 */
export function findPeers(ground) {
  const peers = [nginx(ground), product(ground), openSlide(ground), iipsrv(ground)];
  return { found: peers.filter(({ version }) => version), absent: peers.filter(({ version }) => !version) };
}

function product(ground) {
  return {
    name: 'product',
    version: process.version.replace('v', 'Node '),
    start: async () => {
      const running = await startProduct(ground);
      const image = running.images.find(({ file_name }) => file_name === slideNames.scan);
      const seed = running.images.find(({ file_name }) => file_name === slideNames.seed);
      await timeOf(running.port, running.tilePath(seed.id, '0/0_0'));
      return { ...running, pathOf: (tile) => running.tilePath(image.id, tile) };
    },
    /** What was made for the slides is forgotten. */
    forget: () => rmSync(join(ground.cache, 'data', 'tiles'), { recursive: true, force: true }),
  };
}

export const staticFolderOf = (cache) => join(cache, 'static');

function nginx({ cache, pinned }) {
  const command = onPath('nginx') ?? (existsSync('/usr/sbin/nginx') ? '/usr/sbin/nginx' : undefined);
  return {
    name: 'nginx',
    version: command && versionIn(command, ['-v']),
    start: async () => {
      const port = await freePort();
      const site = `server { listen 127.0.0.1:${port}; root ${staticFolderOf(cache)}; }`;
      const server = startNginx({ command, cache, pinned, site });
      return running({ port, servers: [server], pathOf: (tile) => `/${tile}.jpg` });
    },
  };
}

function startNginx({ command, cache, pinned, site }) {
  const folder = join(cache, 'nginx');
  mkdirSync(folder, { recursive: true });
  const settings = join(folder, 'nginx.conf');
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (kind) => `${kind}_temp_path ${folder}/${kind};`,
  );
  writeFileSync(
    settings,
    // Started by root, it would answer as somebody who may not read the folder.
    `${process.getuid() === 0 ? 'user root; ' : ''}worker_processes 1; daemon off; pid ${folder}/nginx.pid; error_log ${folder}/error.log warn;
    events { worker_connections 4096; }
    http {
      access_log off; sendfile on; tcp_nopush on; tcp_nodelay on; keepalive_requests 100000000;
      types { image/jpeg jpg; } ${temporary.join(' ')}
      ${site}
    }`,
  );
  return startLogged(pinned([command, '-c', settings, '-e', join(folder, 'error.log')]), cache, 'nginx');
}

function openSlide({ slides, tileSize, cache, pinned }) {
  const python = ['/usr/bin/python3', onPath('python3')].find(
    (command) => command && spawnSync(command, ['-c', 'import openslide, gunicorn']).status === 0,
  );
  return {
    name: 'OpenSlide',
    version: python && versionIn(python, ['-c', 'import openslide; print(openslide.__library_version__)']),
    start: async () => {
      const port = await freePort();
      const workers = ['-w', '2', '-k', 'gthread', '--threads', '4', '--keep-alive', '60'];
      const app = ['-b', `127.0.0.1:${port}`, '--chdir', import.meta.dirname, 'openslide_peer:app'];
      const server = startLogged(pinned([python, '-m', 'gunicorn', ...workers, ...app]), cache, 'openslide', {
        SLIDES: slides,
        TILE: String(tileSize),
        PYTHONDONTWRITEBYTECODE: '1',
      });
      const peer = await running({
        port,
        servers: [server],
        pathOf: (tile) => `/${slideNames.scan}/${tile}.jpeg`,
      });
      await timeOf(port, `/${slideNames.seed}/0/0_0.jpeg`);
      return peer;
    },
  };
}

function iipsrv({ slides, cache, pinned }) {
  const command = ['/usr/lib/iipimage-server/iipsrv.fcgi', onPath('iipsrv.fcgi')].find(
    (file) => file && existsSync(file),
  );
  const web = onPath('nginx') ?? '/usr/sbin/nginx';
  return {
    name: 'iipsrv',
    version: command && existsSync(web) && (versionOfPackage('iipimage-server') ?? 'unknown version'),
    /** It takes only slides with a level for every halving: its figures are of another file. */
    isOfAnotherSlide: true,
    start: async () => {
      const [port, ...behind] = [await freePort(), await freePort(), await freePort()];
      const workers = behind.map((one) =>
        startLogged(pinned([command, '--bind', `127.0.0.1:${one}`, '--backlog', '1024']), cache, 'iipsrv', {
          FILESYSTEM_PREFIX: `${slides}/`,
          VERBOSITY: '0',
          LOGFILE: join(cache, 'log', 'iipsrv.txt'),
          JPEG_QUALITY: '75',
          MAX_IMAGE_CACHE_SIZE: '10',
          CODEC_PASSTHROUGH: '1',
        }),
      );
      const parameters = {
        QUERY_STRING: '$query_string',
        REQUEST_METHOD: 'GET',
        REQUEST_URI: '$request_uri',
        SERVER_PROTOCOL: '$server_protocol',
        HTTP_HOST: '$host',
      };
      const passed = Object.entries(parameters).map(([name, value]) => `fastcgi_param ${name} ${value};`);
      const site = `upstream iip { ${behind.map((one) => `server 127.0.0.1:${one};`).join(' ')} }
        server { listen 127.0.0.1:${port}; location /fcgi { fastcgi_pass iip; ${passed.join(' ')} } }`;
      return running({
        port,
        servers: [...workers, startNginx({ command: web, cache, pinned, site })],
        pathOf: (tile) => `/fcgi?DeepZoom=${slideNames.halves}_files/${tile}.jpg`,
      });
    },
  };
}

function startLogged(commandLine, cache, name, env = {}) {
  mkdirSync(join(cache, 'log'), { recursive: true });
  const log = openSync(join(cache, 'log', `${name}.log`), 'a');
  const server = start(commandLine, { env, stdio: ['ignore', log, log] });
  const signals = passSignalsTo(server);
  server.once('exit', () => signals.release());
  return server;
}

/** Waits until the server answers, whatever it says. */
async function running({ port, servers, pathOf }) {
  const ends = servers.map(endOf);
  const stop = async () => {
    for (const server of servers) server.kill();
    await Promise.all(ends);
  };
  for (const deadline = Date.now() + upWithinMs; ; ) {
    try {
      await fetch(`http://127.0.0.1:${port}/`);
      return { port, roots: servers.map(({ pid }) => pid), pathOf, stop };
    } catch (error) {
      if (Date.now() > deadline) {
        await stop();
        throw error;
      }
      await setTimeout(20);
    }
  }
}

/** The first number with points in what a command says of itself. */
function versionIn(command, args) {
  const { stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' });
  return /\d+(\.\d+)+/.exec(`${stdout}${stderr}`)?.[0];
}

function versionOfPackage(name) {
  const { status, stdout } = spawnSync('dpkg-query', ['-W', '-f', `\${Version}`, name], { encoding: 'utf8' });
  return status === 0 ? stdout : undefined;
}
