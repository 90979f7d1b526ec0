/**
 * The first program of a render process, which reads slides that the server does not trust. This program drops all rights
 * that rendering does not need, and then replaces itself by the program named in its arguments. The replacement is necessary because
 * Landlock restricts only the calling thread and what that thread starts later; execve ends Node's other threads.
 *
 * This program does not read messages. Therefore the parent process sends none before the executed program has reported that
 * it is ready.
 */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Confinement } from './confinement.ts';
import { landlockVersion, restrictFiles } from './landlock.ts';
import { loadSystemCalls, type SystemCalls } from './system-calls.ts';

// Resources of setrlimit(2).
const RLIMIT_DATA = 2;
const RLIMIT_CORE = 4;
/** File descriptor of the message channel to the parent process: its index in `stdio` of `startConfined` (start-render-process.ts). */
const CHANNEL = 3;

/** Files and folders that system libraries and Node read, for example time zones. They contain no secrets. */
const SYSTEM_FILES = [
  '/usr/share',
  '/etc/ld.so.cache',
  '/etc/localtime',
  '/dev/urandom',
  '/dev/zero',
  '/proc/cpuinfo',
  '/proc/meminfo',
  '/sys/devices/system/cpu',
];
/** Folders of system libraries; those that do not exist are ignored. */
const SYSTEM_LIBRARIES = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/usr/local/lib',
  '/nix/store',
  '/gnu/store',
];

/** Assumed data size of Node in kB when the system does not report it. */
const DEFAULT_DATA_KILOBYTES = 2 ** 20;

/** Node option without which Node exits at startup, because it cannot read the system's OpenSSL configuration. */
const WITHOUT_OPENSSL_SETTINGS = '--openssl-config=/dev/null';

const confinement = JSON.parse(process.argv[2] ?? '') as Confinement;

const calls = await loadSystemCalls();
if (calls) confine(calls, confinement);

// This line is reached only without Landlock, or if the C library cannot be called. Executing the program then has no
// benefit, so it is imported.
process.argv = [process.execPath, confinement.program, ...confinement.args];
await import(pathToFileURL(confinement.program).href);

function confine(system: SystemCalls, options: Confinement): void {
  system.setResourceLimit(RLIMIT_DATA, dataBytes() + options.memoryBytes);
  // A core file would contain parts of slides.
  system.setResourceLimit(RLIMIT_CORE, 0);
  const version = landlockVersion(system);
  if (version === 0) return;
  const { slides, compiled, scratch } = options;
  const packageFolder = fileURLToPath(new URL('../..', import.meta.url));
  restrictFiles(system, version, {
    readable: slides && [
      ...slides,
      ...SYSTEM_FILES,
      packageFolder,
      ...moduleFolders(packageFolder),
      ...(compiled ? [compiled.folder] : []),
    ],
    executable: [process.execPath, ...SYSTEM_LIBRARIES],
    writable: [...(scratch === null ? [] : [scratch]), ...(compiled?.isWritable ? [compiled.folder] : [])],
  });
  executeProgram(system, options);
}

/**
 * Returns the bytes that the kernel counts as data of this process. V8 alone reserves half a gigabyte for code without using
 * it. The executed program runs in the same Node and reserves as much, so `confine` adds these bytes to the memory limit.
 *
 * Source: proc(5), `/proc/[pid]/status`.
 */
function dataBytes(): number {
  const kilobytes = /^VmData:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1];
  return Number(kilobytes ?? DEFAULT_DATA_KILOBYTES) * 1024;
}

/** Returns the existing `node_modules` folders in which Node searches for packages. */
function moduleFolders(folder: string): readonly string[] {
  const ownModules = join(folder, 'node_modules');
  const parent = dirname(folder);
  return [
    ...(existsSync(ownModules) ? [ownModules] : []),
    ...(parent === folder ? [] : moduleFolders(parent)),
  ];
}

/** Replaces this process by the render program, which keeps the message channel. */
function executeProgram(system: SystemCalls, { program, args, environment }: Confinement): never {
  const channel = { NODE_CHANNEL_FD: String(CHANNEL), NODE_CHANNEL_SERIALIZATION_MODE: 'advanced' };
  system.keepOpen(CHANNEL);
  system.execute(
    process.execPath,
    [process.execPath, ...process.execArgv, WITHOUT_OPENSSL_SETTINGS, program, ...args],
    Object.entries({ ...environment, ...channel }).map(([name, value]) => `${name}=${value}`),
  );
  // execve has failed. The other threads of this process still run without Landlock restrictions, so the process exits.
  console.error(`A render process could not be started: execve failed with error ${system.errno()}`);
  process.exit(1);
}
