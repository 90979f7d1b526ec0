/** `npm run restore -- <backup> [--replace]`: restores a backup while the server is stopped. See docs/backup.md. */
import '../platform/require-node.ts';
import path from 'node:path';
import { restoreBackup } from '../backup/restore-backup.ts';
import { explicitSettings } from '../platform/config.ts';
import { parseArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run restore -- <folder of the backup> [--replace]';

await runCommand(async (config, log) => {
  const { values, positionals } = parseArguments({ replace: { type: 'boolean' } }, usage);
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new UsageError(usage);
  const mayReplace = values.replace ?? false; // whether to replace a database with accounts, and uploads with other contents
  await restoreBackup(
    {
      config,
      settings: explicitSettings(),
      now: () => new Date(),
      log,
      printLine: (sentence) => console.log(sentence),
    },
    path.resolve(folder),
    mayReplace,
  );
});
