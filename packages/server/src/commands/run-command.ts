/** Parses the arguments of command-line programs, prints their errors and sets their exit codes. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import pino, { type Logger } from 'pino';
import { type Config, configOfProcess } from '../platform/config.ts';

const standardError = 2; // file descriptor

/** Thrown for invalid arguments. The message ends with the usage of the command. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** Parses the arguments of the process. @throws UsageError for an unknown option or a missing value */
export function parseArguments<const Options extends ParseArgsOptionsConfig>(
  options: Options,
  usage: string,
) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`, { cause: error });
  }
}

/** Runs a command, and prints an error to stderr. The exit code is 1 for a failure and 2 for invalid arguments. */
export async function runCommand(work: (config: Config, log: Logger) => Promise<void>): Promise<void> {
  process.umask(0o077); // only the owner may read new files, as in the server
  try {
    const config = configOfProcess();
    await work(config, pino({ level: config.logLevel }, pino.destination(standardError)));
  } catch (error) {
    const { message, cause } = error as Error;
    const needsCause =
      cause instanceof Error && !(error instanceof UsageError) && !message.includes(cause.message);
    console.error(needsCause ? `${message} (${cause.message})` : message);
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
