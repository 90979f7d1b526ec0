/** What the commands of this folder have in common: their options, plain sentences, and how they end. */
import { type ParseArgsOptionsConfig, parseArgs } from 'node:util';
import pino, { type Logger } from 'pino';
import { type Config, configOfProcess } from '../config.ts';

/** Wrong words on the command line; the message says what is right. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
}

/** @throws UsageError with the usage */
export function readArguments<const Options extends ParseArgsOptionsConfig>(options: Options, usage: string) {
  try {
    return parseArgs({ options, allowPositionals: true });
  } catch (error) {
    throw new UsageError(`${(error as Error).message}\n${usage}`, { cause: error });
  }
}

/** Sentences go to stdout, what went wrong to stderr. Ends with 1 when it failed, with 2 when it was asked wrongly. */
export async function runCommand(work: (config: Config, log: Logger) => Promise<void>): Promise<void> {
  process.umask(0o077); // as the server itself
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
