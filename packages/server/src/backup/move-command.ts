/** `npm run move -- --to postgres://…`, or back with `--to sqlite`, while the server is stopped. docs/backup.md */
import '../require-node.ts';
import { moveDatabase } from './move-database.ts';
import { readArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run move -- --to postgres://user:password@host:5432/database, or --to sqlite';

await runCommand(async (config, log) => {
  const { values, positionals } = readArguments({ to: { type: 'string' } }, usage);
  const isBack = values.to === 'sqlite';
  const url = isBack ? null : addressOf(values.to);
  if (positionals.length > 0) throw new UsageError(usage);
  await moveDatabase({ config, now: () => new Date(), log, say: (sentence) => console.log(sentence) }, url);
  console.log(
    isBack
      ? `Moved. Now take DATABASE_URL out of the settings.
A start that still has it uses the old database, which is as it was; nothing that is written there comes along.`
      : `Moved. Now set DATABASE_URL to the address that you gave (it is not shown, since it has a password).
A start without it uses the old database, which is as it was; nothing that is written there comes along. DATA_DIR stays
in use: secret.key in it, unless SECRET_KEY is set, and uploads.`,
  );
});

/** The address itself is never in a message. */
function addressOf(given: string | undefined): string {
  const isAddress =
    given !== undefined && URL.canParse(given) && /^postgres(ql)?:$/.test(new URL(given).protocol);
  if (!isAddress) throw new UsageError(`--to must be sqlite or begin with postgres://\n${usage}`);
  return given;
}
