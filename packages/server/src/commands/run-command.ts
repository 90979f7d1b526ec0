/** Shared by the commands: arguments, error messages and exit codes. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import pino, { type Logger } from 'pino';
import { type Config, configOfProcess } from '../platform/config.ts';

/** Invalid arguments; the message shows the usage. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError with the usage */
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

/** Prints errors to stderr. Exit code 1 on failure, 2 for invalid arguments. */
export async function runCommand(work: (config: Config, log: Logger) => Promise<void>): Promise<void> {
  process.umask(0o077); // like the server
  try {
    const config = configOfProcess();
    await work(config, pino({ level: config.logLevel }, pino.destination(2)));
  } catch (error) {
    const { message, cause } = error as Error;
    console.error(
      cause instanceof Error && !(error instanceof UsageError) && !message.includes(cause.message)
        ? `${message} (${cause.message})`
        : message,
    );
    process.exitCode = error instanceof UsageError ? 2 : 1;
  }
}
