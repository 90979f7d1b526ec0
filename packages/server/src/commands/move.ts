/** `npm run move -- --to postgres://…` or `--to sqlite`: moves the database while the server is stopped. See docs/backup.md. */
import '../platform/require-node.ts';
import { moveDatabase } from '../backup/move-database.ts';
import { parseArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run move -- --to postgres://user:password@host:5432/database, or --to sqlite';

await runCommand(async (config, log) => {
  const { values, positionals } = parseArguments({ to: { type: 'string' } }, usage);
  const movesToSqlite = values.to === 'sqlite';
  const url = movesToSqlite ? null : requirePostgresUrl(values.to); // null: the embedded database
  if (positionals.length > 0) throw new UsageError(usage);
  await moveDatabase(
    { config, now: () => new Date(), log, printLine: (sentence) => console.log(sentence) },
    url,
  );
  console.log(
    movesToSqlite
      ? `Moved. Now remove DATABASE_URL from the settings. As long as it is set, the server uses the old
database, which is unchanged; later changes there are not moved.`
      : `Moved. Now set DATABASE_URL to the URL that you gave (not shown here, since it contains a password).
As long as it is not set, the server uses the old database, which is unchanged; later changes there are not moved.
The server still needs DATA_DIR for uploads and, unless SECRET_KEY is set, for secret.key.`,
  );
});

/** Returns the text if it is a PostgreSQL URL. @throws UsageError otherwise, without the text, because a URL contains a password */
function requirePostgresUrl(text: string | undefined): string {
  const isPostgresUrl =
    text !== undefined && URL.canParse(text) && /^postgres(ql)?:$/.test(new URL(text).protocol);
  if (!isPostgresUrl) throw new UsageError(`--to must be sqlite or begin with postgres://\n${usage}`);
  return text;
}
