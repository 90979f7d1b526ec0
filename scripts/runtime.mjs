/** Where the project is, which Node runs it, and how a script starts another program. */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('..', import.meta.url));
const productMajor = 24;

/** Something a person can mend, or asked for: shown as one sentence, without a stack. */
export class Stop extends Error {
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * The Node that runs the product: the one npm installed, else the one running this script.
 *
 * @throws Stop when neither is Node 24 or newer
 */
export function productNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const fromNpm = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', name);
  for (const node of [fromNpm, process.execPath]) {
    // Asked rather than trusted: a glibc binary is there but does not run on a musl system.
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (status === 0 && Number.parseInt(stdout.slice(1), 10) >= productMajor) return node;
  }
  throw new Stop(
    `Lamina runs on Node ${productMajor}, and npm has none for this system (${process.platform} ${process.arch}). ` +
      `Install Node ${productMajor} from https://nodejs.org and run the command again.`,
  );
}

/**
 * The command line of the server.
 *
 * Requests leave little behind: the memory for what is young may grow to 8 MiB instead of 32, which is as fast and
 * keeps the process 40 MB smaller.
 *
 * @param options of Node
 */
export function server(options = []) {
  return [productNode(), '--max-semi-space-size=8', ...options, 'packages/server/src/main.ts'];
}

/** The command line of an installed tool, run by the product's Node. */
export function tool(packageName, command = packageName) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [productNode(), join(folder, typeof bin === 'string' ? bin : bin[command])];
}

/**
 * Start a program and wait for its end. It reads nothing from the terminal.
 *
 * @param commandLine the program, then its arguments
 * @param options `env` is added to the environment; `capture` keeps what is printed instead of showing it
 * @returns its exit code, and what it printed when captured
 * @throws Stop when a signal ended the script meanwhile
 */
export async function run(commandLine, { env = {}, capture = false, ...options } = {}) {
  const shown = capture ? 'pipe' : 'inherit';
  const child = start(commandLine, { env, stdio: ['ignore', shown, shown], ...options });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const signals = passSignalsTo(child);
  const code = await endOf(child);
  signals.release();
  if (signals.passed)
    throw new Stop(`Stopped by ${signals.passed}.`, 128 + constants.signals[signals.passed]);
  return { code, output };
}

/** Start a program and let it take over: its signals, its exit code. It reads nothing from the terminal. */
export async function runInstead(commandLine, env = {}) {
  const child = start(commandLine, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  passSignalsTo(child);
  return endOf(child);
}

/** Start a program in the project's root. What a Node program starts as `node` is the same Node. */
export function start([command, ...args], { env = {}, ...options } = {}) {
  const { PATH = '' } = process.env;
  const path = isAbsolute(command) ? `${dirname(command)}${delimiter}${PATH}` : PATH;
  return spawn(command, args, { cwd: root, env: { ...process.env, PATH: path, ...env }, ...options });
}

/** @returns the exit code; 128 + n when signal n ended it, as shells say it */
export function endOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + constants.signals[signal]));
  });
}

/** Whoever ends the script ends the program it runs. */
export function passSignalsTo(child) {
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  const pass = (signal) => {
    state.passed = signal;
    child.kill(signal);
  };
  const state = {
    /** The signal that came, null while none has. */
    passed: null,
    release() {
      for (const name of names) process.off(name, pass);
    },
  };
  for (const name of names) process.on(name, pass);
  return state;
}

/**
 * npm told to end only ends the shell between itself and the script, and the shell passes nothing on.
 * A script whose parent is gone was meant too.
 */
function endWithNpm() {
  if (!process.env.npm_lifecycle_event) return;
  const parent = process.ppid;
  const watch = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(watch);
    process.kill(process.pid, 'SIGTERM');
  }, 250).unref();
}

/** Run a script: what it answers is the exit code; a Stop is one sentence, anything else keeps its stack. */
export async function main(script) {
  endWithNpm();
  try {
    process.exitCode = await script();
  } catch (error) {
    const stopped = error instanceof Stop;
    console.error(stopped ? error.message : error);
    process.exitCode = stopped ? error.exitCode : 1;
  }
}
