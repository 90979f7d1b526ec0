/** `npm run restore -- <backup> [--replace]`: brings a backup back while the server is stopped. docs/backup.md */
import '../require-node.ts';
import path from 'node:path';
import { givenSettings } from '../config.ts';
import { restoreBackup } from './restore-backup.ts';
import { readArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run restore -- <folder of the backup> [--replace]';

await runCommand(async (config, log) => {
  const { values, positionals } = readArguments({ replace: { type: 'boolean' } }, usage);
  const [folder] = positionals;
  if (folder === undefined || positionals.length > 1) throw new UsageError(usage);
  await restoreBackup(
    {
      config,
      settings: givenSettings(),
      now: () => new Date(),
      log,
      say: (sentence) => console.log(sentence),
    },
    path.resolve(folder),
    values.replace ?? false,
  );
});
