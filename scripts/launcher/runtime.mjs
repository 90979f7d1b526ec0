// @ts-check
/**
 * Functions for all scripts of the project. They find the Node that runs the product, and run programs for a script: a program receives
 * the signals of the script, and the script receives its exit code. The functions themselves run on Node 20 or newer.
 */
import { spawn, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { delimiter, dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {readonly string[]} CommandLine a program, then its arguments */
/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {{ readonly env?: NodeJS.ProcessEnv } & Omit<import('node:child_process').SpawnOptions, 'env'>} StartOptions */

/** The root folder of the project. */
export const root = fileURLToPath(new URL('../..', import.meta.url));
/** Major version of Node that the product needs. Its scripts in TypeScript run on the same Node. */
const productMajor = 24;

/** The error that ends a script for an expected reason, for example a missing program; `main` prints its message without a stack. */
export class ScriptExit extends Error {
  /**
   * @param {string} message
   * @param {number} exitCode
   */
  constructor(message, exitCode = 1) {
    super(message);
    this.exitCode = exitCode;
  }
}

/**
 * Returns the path of the Node that runs the product: the Node that npm has installed as a package, or else the one that runs this script.
 *
 * @throws {ScriptExit} when neither is Node 24 or newer
 */
export function findProductNode() {
  const name = process.platform === 'win32' ? 'node.exe' : 'node';
  const platform = process.platform === 'win32' ? 'win' : process.platform;
  const nodeFromNpm = join(root, 'node_modules', `node-${platform}-${process.arch}`, 'bin', name);
  for (const node of [nodeFromNpm, process.execPath]) {
    // The existence of the file is not enough: a binary for glibc does not run on a musl system.
    const { status, stdout } = spawnSync(node, ['--version'], { encoding: 'utf8' });
    if (status === 0 && Number.parseInt(stdout.slice(1), 10) >= productMajor) return node;
  }
  throw new ScriptExit(
    `Lamina runs on Node ${productMajor}, and npm has none for this system (${process.platform} ${process.arch}). ` +
      `Install Node ${productMajor} from https://nodejs.org and run the command again.`,
  );
}

/**
 * Returns the command line of the server.
 *
 * Requests allocate few long-lived objects, so semi-spaces (parts of V8's heap for new objects) of 8 MiB instead of 32 MiB are as fast
 * and save 40 MB of memory.
 *
 * @param {readonly string[]} options additional options of Node
 */
export function serverCommand(options = []) {
  return [findProductNode(), '--max-semi-space-size=8', ...options, 'packages/server/src/main.ts'];
}

/**
 * Returns the command line of an installed tool, run by the product's Node.
 *
 * @param {string} packageName
 * @param {string} command name of the tool in `bin` of the package, which may have several
 */
export function toolCommand(packageName, command = packageName) {
  const folder = join(root, 'node_modules', packageName);
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  return [findProductNode(), join(folder, typeof bin === 'string' ? bin : bin[command])];
}

/**
 * Runs a program to its end. The program's standard input is empty.
 *
 * @param {CommandLine} commandLine
 * @param {StartOptions & { readonly capture?: boolean }} options `env` is added to the environment; `capture` collects
 *   the output instead of printing it
 * @returns the exit code, and the captured output
 * @throws {ScriptExit} when the script received a signal while the program was running
 */
export async function run(commandLine, { env = {}, capture = false, ...options } = {}) {
  const outputTarget = capture ? 'pipe' : 'inherit';
  const child = start(commandLine, { env, stdio: ['ignore', outputTarget, outputTarget], ...options });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (text) => {
      output += text;
    });
  }
  const passedSignals = passSignalsTo(child);
  const code = await exitCodeOf(child);
  passedSignals.release();
  const { passedSignal } = passedSignals;
  if (passedSignal !== null)
    throw new ScriptExit(`Stopped by ${passedSignal}.`, 128 + constants.signals[passedSignal]);
  return { code, output };
}

/**
 * Runs a program in place of this script: the program gets the script's signals and an empty standard input, and the
 * function returns the program's exit code.
 *
 * @param {CommandLine} commandLine
 * @param {NodeJS.ProcessEnv} env added to the environment
 */
export async function runInstead(commandLine, env = {}) {
  const child = start(commandLine, { env, stdio: ['ignore', 'inherit', 'inherit'] });
  passSignalsTo(child);
  return exitCodeOf(child);
}

/**
 * Starts a program in the root folder of the project. If the path of the program is absolute, the folder of the program
 * comes first in PATH. A script that runs on the product's Node therefore starts the same Node with the command `node`.
 *
 * @param {CommandLine} commandLine
 * @param {StartOptions} options `env` is added to the environment
 */
export function start([command = '', ...args], { env = {}, ...options } = {}) {
  const { PATH = '' } = process.env;
  const path = isAbsolute(command) ? `${dirname(command)}${delimiter}${PATH}` : PATH;
  return spawn(command, args, { cwd: root, env: { ...process.env, PATH: path, ...env }, ...options });
}

/**
 * Waits for the end of a program.
 *
 * @param {ChildProcess} child
 * @returns {Promise<number>} the exit code; 128 + n when signal n ended the program, as in a shell
 */
export function exitCodeOf(child) {
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve(code ?? 128 + (signal ? constants.signals[signal] : 0)));
  });
}

/**
 * Passes SIGINT, SIGTERM and SIGHUP, which this script receives, to a program until the caller calls `release` of the result.
 *
 * @param {ChildProcess} child
 */
export function passSignalsTo(child) {
  /** @type {readonly NodeJS.Signals[]} */
  const names = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  /** @param {NodeJS.Signals} signal */
  const passSignal = (signal) => {
    state.passedSignal = signal;
    child.kill(signal);
  };
  const state = {
    /** @type {NodeJS.Signals | null} the last signal that was passed to the program */
    passedSignal: null,
    release() {
      for (const name of names) process.off(name, passSignal);
    },
  };
  for (const name of names) process.on(name, passSignal);
  return state;
}

/**
 * Ends this script when the npm process that started it ends.
 *
 * npm runs a script in a shell, and that shell does not pass signals to the script. When npm and the shell have ended, the parent
 * process of the script changes; the script then sends SIGTERM to itself.
 */
function exitWhenNpmExits() {
  if (!process.env.npm_lifecycle_event) return; // npm has not started this script
  const parent = process.ppid;
  const parentCheck = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(parentCheck);
    process.kill(process.pid, 'SIGTERM');
  }, 250).unref(); // ms; the timer does not keep the script running
}

/**
 * Runs a script and sets the exit code that it returns. Prints only the message of a `ScriptExit`, and any other error with its stack.
 *
 * @param {() => number | Promise<number>} script
 */
export async function main(script) {
  exitWhenNpmExits();
  try {
    process.exitCode = await script();
  } catch (error) {
    const isExpected = error instanceof ScriptExit;
    console.error(isExpected ? error.message : error);
    process.exitCode = isExpected ? error.exitCode : 1;
  }
}
