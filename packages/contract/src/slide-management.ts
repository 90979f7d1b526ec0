/** Endpoints with which administrators manage the catalogue: list entries, change many entries, and export or import a catalogue file. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Image } from './images.ts';
import { ComparedName, Cursor, Id, SearchText, SingleLine } from './text.ts';
import { Message } from './users.ts';

/** A catalogue entry as administrators see it. */
export const ManagedImage = Image.extend({
  removed: z.boolean().meta({ description: 'Removed from the catalogue by an administrator' }),
  missing: z.boolean().meta({ description: 'The slide file no longer exists' }),
  metadata_hold: z
    .object({
      kind: z.enum(['kept', 'waiting']),
      dataset: z.string().nullable().meta({ description: 'The dataset in the metadata files; null: none' }),
    })
    .nullable()
    .meta({
      description:
        'Why metadata files are not applied to the slide. `kept`: the slide stays in its dataset, because more people could view ' +
        'it in the dataset of the metadata files. `waiting`: the slide stays hidden until an invalid metadata file is corrected',
    }),
}).meta({ id: 'ManagedImage' });
export type ManagedImage = z.infer<typeof ManagedImage>;

/**
 * The status by which administrators filter entries:
 * - `listed`: every entry that is neither missing nor removed, whether or not its file could be read
 * - `ready`, `pending`, `failed`, `hidden`: listed entries with this state
 * - `held`: listed entries to which metadata files (catalogue.csv, dataset.json) are not applied (see `metadata_hold`)
 * - `missing`: the file is missing, and the entry was not removed
 * - `removed`: an administrator has removed the entry
 */
export const ManagedStatus = z.enum([
  'listed',
  'ready',
  'pending',
  'failed',
  'hidden',
  'held',
  'missing',
  'removed',
]);
export type ManagedStatus = z.infer<typeof ManagedStatus>;

const filter = {
  q: SearchText.optional().meta({ description: 'Text in file name, id, organ or dataset, in any case' }),
  dataset: ComparedName.max(255).optional().meta({ description: 'Empty: entries without a dataset' }),
};

export const listManagedImages = endpoint({
  method: 'GET',
  path: '/admin/images',
  summary: 'A page of all entries of the catalogue, in catalogue order',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  query: z.object({
    ...filter,
    status: ManagedStatus.default('listed'),
    limit: z.coerce.number().int().min(1).max(200).default(100),
    cursor: Cursor.optional(),
  }),
  response: z.object({ images: z.array(ManagedImage), next_cursor: z.string().nullable() }),
  status: 200,
  errors: [],
});

export const ManagedCounts = z.record(ManagedStatus, z.number().int()).meta({ id: 'ManagedCounts' });
export type ManagedCounts = z.infer<typeof ManagedCounts>;

export const countManagedImages = endpoint({
  method: 'GET',
  path: '/admin/images/counts',
  summary: 'Number of entries of each status',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  query: z.object(filter),
  response: z.object({ counts: ManagedCounts }),
  status: 200,
  errors: [],
});

/** Maximum number of entries in one change, which is one transaction with an audit event for each entry. */
export const maxImagesAtOnce = 1000;

export const changeImages = endpoint({
  method: 'POST',
  path: '/admin/images/changes',
  summary: 'Make the same change to many entries: to all of them or none',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  body: z.object({
    ids: z.array(z.uuid()).min(1).max(maxImagesAtOnce),
    dataset_name: SingleLine.max(200).nullable().optional(),
    organ_type: SingleLine.max(200).nullable().optional(),
    hidden: z.boolean().optional(),
    removed: z.boolean().optional(),
    read_again: z.literal(true).optional().meta({ description: 'Read the files of failed entries again' }),
  }),
  response: Message.extend({
    changed: z
      .number()
      .int()
      .meta({ description: 'Entries that have changed; the others had these values already' }),
  }),
  status: 200,
  errors: ['not_found'],
});

const maxCatalogueFileBytes = 10 * 1024 * 1024;
export const maxCatalogueFileLines = 100_000;
export const catalogueFile = { contentType: 'text/csv', maxBytes: maxCatalogueFileBytes } as const;

export const exportCatalogue = endpoint({
  method: 'GET',
  path: '/admin/catalogue.csv',
  summary: 'The catalogue as a file for spreadsheets, with the columns that an import reads',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  response: 'text/csv',
  status: 200,
  errors: [],
});

/** Fields that a catalogue file may change. */
export const ImportedField = z.enum(['file_name', 'dataset_name', 'organ_type']);
export type ImportedField = z.infer<typeof ImportedField>;

const FieldChange = z.object({
  field: ImportedField,
  before: z.string().nullable(),
  after: z.string(),
});

/** The change that one line of a catalogue file would make. */
export const ImportedChange = z
  .object({
    line: z.number().int().meta({ description: 'Line of the file, from 1' }),
    image_id: z.uuid(),
    file_name: z.string().meta({ description: 'Current file name' }),
    fields: z.array(FieldChange),
  })
  .meta({ id: 'ImportedChange' });
export type ImportedChange = z.infer<typeof ImportedChange>;

/** A line of a catalogue file that cannot be applied. */
export const ImportProblem = z
  .object({
    line: z.number().int().meta({ description: 'Line of the file, from 1' }),
    subject: z.string().meta({ description: 'Id or file name in the line; empty when it cannot be read' }),
    reason: z.string().meta({ description: 'Text for the user' }),
  })
  .meta({ id: 'ImportProblem' });
export type ImportProblem = z.infer<typeof ImportProblem>;

/** Maximum number of lines of each kind (changed, unknown, invalid) in a report. The counts of the report include all lines. */
export const maxReportedImportLines = 5000;

/** The report of a check: what a catalogue file would change. */
export const ImportPlan = z.object({
  plan: z.string().meta({ description: 'Identifies exactly these changes; required to apply the import' }),
  encoding: z.enum(['utf-8', 'windows-1254']).meta({ description: 'Encoding in which the file was read' }),
  rows: z.number().int(),
  changed: z.number().int(),
  unchanged: z.number().int(),
  unknown: z.number().int().meta({ description: 'Lines that match no slide of the catalogue' }),
  wrong: z.number().int().meta({ description: 'Invalid lines; while there are any, no line is applied' }),
  changes: z.array(ImportedChange),
  unknown_lines: z.array(ImportProblem),
  wrong_lines: z.array(ImportProblem),
});
export type ImportPlan = z.infer<typeof ImportPlan>;

export const checkCatalogueImport = endpoint({
  method: 'POST',
  path: '/admin/catalogue-import/check',
  summary: 'Report what a catalogue file would change, without changing anything',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  upload: catalogueFile,
  response: ImportPlan,
  status: 200,
  errors: ['invalid_request', 'too_large', 'unsupported_type'],
});

export const applyCatalogueImport = endpoint({
  method: 'POST',
  path: '/admin/catalogue-import',
  summary: 'Apply the changes of a catalogue file exactly as they were reported: all of them or none',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  query: z.object({ plan: Id }),
  upload: catalogueFile,
  response: Message.extend({ changed: z.number().int() }),
  status: 200,
  errors: ['invalid_request', 'too_large', 'unsupported_type', 'import_changed'],
});
