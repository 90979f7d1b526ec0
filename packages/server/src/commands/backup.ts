/** `npm run backup`: writes a backup while the server runs. With `--keep n`, only the n newest backups stay. See docs/backup.md. */
import '../platform/require-node.ts';
import path from 'node:path';
import { writeBackup } from '../backup/write-backup.ts';
import { explicitSettings } from '../platform/config.ts';
import { parseArguments, runCommand, UsageError } from './run-command.ts';

const usage = 'npm run backup [-- --to folder] [--with-uploads] [--keep number]';

await runCommand(async (config) => {
  const { values } = parseArguments(
    { to: { type: 'string' }, 'with-uploads': { type: 'boolean' }, keep: { type: 'string' } },
    usage,
  );
  const keep = values.keep === undefined ? null : Number(values.keep); // null: all backups stay
  if (keep !== null && !(Number.isInteger(keep) && keep >= 1)) {
    throw new UsageError(`--keep must be a whole number of at least 1.\n${usage}`);
  }
  const folder = await writeBackup(
    {
      config,
      settings: explicitSettings(),
      now: () => new Date(),
      printLine: (sentence) => console.log(sentence),
    },
    {
      to: path.resolve(values.to ?? path.join(config.dataDir, 'backups')),
      withUploads: values['with-uploads'] ?? false,
      keep,
    },
  );
  console.log(`The backup is in ${folder}
It contains password hashes, the settings with their passwords, and the encryption key. Only the owner may read the
folder; do not change its permissions.`);
  if (values.to === undefined) console.log('It is on the same disk as the data: copy it to another machine.');
});
