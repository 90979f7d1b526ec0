/** `npm run backup [-- --to folder] [--with-uploads] [--keep n]`: a backup, while the server runs. docs/backup.md */
import '../require-node.ts';
import path from 'node:path';
import { givenSettings } from '../config.ts';
import { readArguments, runCommand, UsageError } from './run-command.ts';
import { writeBackup } from './write-backup.ts';

const usage = 'npm run backup [-- --to folder] [--with-uploads] [--keep number]';

await runCommand(async (config) => {
  const { values } = readArguments(
    { to: { type: 'string' }, 'with-uploads': { type: 'boolean' }, keep: { type: 'string' } },
    usage,
  );
  const keep = values.keep === undefined ? null : Number(values.keep);
  if (keep !== null && !(Number.isInteger(keep) && keep >= 1)) {
    throw new UsageError(`--keep must be a whole number from 1.\n${usage}`);
  }
  const folder = await writeBackup(
    { config, settings: givenSettings(), now: () => new Date(), say: (sentence) => console.log(sentence) },
    {
      to: path.resolve(values.to ?? path.join(config.dataDir, 'backups')),
      withUploads: values['with-uploads'] ?? false,
      keep,
    },
  );
  console.log(`The backup is in ${folder}
It holds hashes of passwords, the settings with their passwords, and the key of what is sealed: only the owner of the
folder may read it, and so it should stay.`);
  if (values.to === undefined) console.log('It lies beside the data: keep a copy on another machine.');
});
