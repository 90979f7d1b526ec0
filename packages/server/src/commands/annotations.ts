/**
 * `npm run annotations -- export|import`: exports and imports the annotations of a dataset as files. The server may keep running.
 * The command checks no permissions, because its user has direct access to the database.
 */
import '../platform/require-node.ts';
import path from 'node:path';
import { type ExportFormat, exportFormats } from '@lamina/annotations';
import { exportDataset, importDataset } from '../annotations/dataset-files.ts';
import { createAuditRecorder } from '../audit/audit-recorder.ts';
import { openExistingDatabase } from './open-existing-database.ts';
import { parseArguments, runCommand, UsageError } from './run-command.ts';

const usage = `npm run annotations -- export --dataset name --to folder [--format ${exportFormats.join('|')}] [--private]
npm run annotations -- import --dataset name --from folder --owner e-mail [--layer name] [--private] [--dry-run]`;

function requireOption(value: string | undefined, option: string): string {
  if (value === undefined) throw new UsageError(`--${option} is missing.\n${usage}`);
  return value;
}

function isFormat(text: string): text is ExportFormat {
  return exportFormats.some((format) => format === text);
}

await runCommand(async (config, log) => {
  const { values, positionals } = parseArguments(
    {
      dataset: { type: 'string' },
      to: { type: 'string' },
      from: { type: 'string' },
      format: { type: 'string', default: 'qupath' },
      owner: { type: 'string' },
      layer: { type: 'string' },
      private: { type: 'boolean', default: false },
      'dry-run': { type: 'boolean', default: false },
    },
    usage,
  );
  const [action] = positionals;
  if (positionals.length !== 1 || (action !== 'export' && action !== 'import')) throw new UsageError(usage);
  const dataset = requireOption(values.dataset, 'dataset');
  const folder = path.resolve(
    action === 'export' ? requireOption(values.to, 'to') : requireOption(values.from, 'from'),
  );
  const { format } = values;
  if (!isFormat(format)) throw new UsageError(`There is no format ${format}.\n${usage}`);
  const ownerEmail = action === 'import' ? requireOption(values.owner, 'owner') : ''; // an export needs no owner

  const db = await openExistingDatabase(config);
  const now = () => new Date();
  const audit = createAuditRecorder({ db, now, log });
  const dependencies = { db, now, audit, printLine: (sentence: string) => console.log(sentence) };
  try {
    if (action === 'export') {
      await exportDataset(dependencies, { dataset, folder, format, withPrivate: values.private });
    } else {
      const isDryRun = values['dry-run'];
      const layerName = values.layer ?? null;
      const options = { dataset, folder, owner: ownerEmail, layerName, isPrivate: values.private, isDryRun };
      await importDataset(dependencies, options);
    }
  } finally {
    await audit.close();
    await db.destroy();
  }
});
