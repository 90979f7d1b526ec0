/** `npm run move -- --to postgres://…` or `--to sqlite`: moves the database while the server is stopped. docs/backup.md */
import '../platform/require-node.ts';
import { moveDatabase } from '../backup/move-database.ts';
import { parseArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run move -- --to postgres://user:password@host:5432/database, or --to sqlite';

await runCommand(async (config, log) => {
  const { values, positionals } = parseArguments({ to: { type: 'string' } }, usage);
  const toEmbedded = values.to === 'sqlite';
  const url = toEmbedded ? null : addressOf(values.to);
  if (positionals.length > 0) throw new UsageError(usage);
  await moveDatabase({ config, now: () => new Date(), log, say: (sentence) => console.log(sentence) }, url);
  console.log(
    toEmbedded
      ? `Moved. Now remove DATABASE_URL from the settings.
A start with it uses the old database, which is unchanged; later changes there are not moved.`
      : `Moved. Now set DATABASE_URL to the address that you gave (not shown here, since it contains a password).
A start without it uses the old database, which is unchanged; later changes there are not moved. DATA_DIR stays
in use for uploads and, unless SECRET_KEY is set, secret.key.`,
  );
});

/** Messages never contain the address, since it has a password. */
function addressOf(given: string | undefined): string {
  const isAddress =
    given !== undefined && URL.canParse(given) && /^postgres(ql)?:$/.test(new URL(given).protocol);
  if (!isAddress) throw new UsageError(`--to must be sqlite or begin with postgres://\n${usage}`);
  return given;
}
