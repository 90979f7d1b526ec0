/** Datasets: which are open to every active member, which are restricted, and who may see those. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { rule } from './rules.ts';
import { Message, Reason } from './users.ts';

/** `open`: to every active member who may look at slides; `restricted`: to whom it was granted, and administrators. */
export const DatasetAccess = z.enum(['open', 'restricted']);
export type DatasetAccess = z.infer<typeof DatasetAccess>;

const Timestamp = z.iso.datetime().meta({ description: 'UTC, ISO 8601' });
const DatasetName = z.string().min(1).max(255);
const Uid = z.string().min(1).max(100);

/** What an administrator is told of a person beside a grant or a request. */
const Person = { uid: Uid, email: z.string(), displayName: z.string().nullable() };

export const DatasetGrant = z.object({ ...Person, at: Timestamp }).meta({ id: 'DatasetGrant' });
export type DatasetGrant = z.infer<typeof DatasetGrant>;

export const DatasetRequest = z
  .object({ ...Person, id: z.string(), at: Timestamp, reason: z.string() })
  .meta({ id: 'DatasetRequest' });
export type DatasetRequest = z.infer<typeof DatasetRequest>;

export const Dataset = z
  .object({
    name: z.string(),
    access: DatasetAccess,
    listed: z.boolean().meta({ description: 'Members may know that it exists, and ask for it' }),
    images: z.number().int(),
    grants: z.array(DatasetGrant).meta({ description: 'In the order they were given' }),
    requests: z.array(DatasetRequest).meta({ description: 'Not answered yet, oldest first' }),
  })
  .meta({ id: 'Dataset' });
export type Dataset = z.infer<typeof Dataset>;

export const listDatasets = endpoint({
  method: 'GET',
  path: '/admin/datasets',
  summary: 'Every dataset, with who may see it and who asks to',
  access: 'users.manage',
  language: 'tr',
  response: z.object({ datasets: z.array(Dataset) }),
  status: 200,
  errors: [],
});

export const updateDataset = endpoint({
  method: 'PUT',
  path: '/admin/datasets',
  summary: 'Open or restrict a dataset; the grants stay',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ dataset: DatasetName, access: DatasetAccess, listed: z.boolean().optional() }),
  response: Message,
  status: 200,
  errors: ['not_found'],
});

export const grantDataset = endpoint({
  method: 'POST',
  path: '/admin/datasets/grants',
  summary: 'Let an account see a dataset while it is restricted',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ dataset: DatasetName, uid: Uid }),
  response: Message,
  status: 200,
  errors: ['not_found'],
});

export const revokeDataset = endpoint({
  method: 'DELETE',
  path: '/admin/datasets/grants',
  summary: 'Take a grant back; its slides and tiles end at once',
  access: 'users.manage',
  language: 'tr',
  query: z.object({ dataset: DatasetName, uid: Uid }),
  response: Message,
  status: 200,
  errors: [],
});

export const answerDatasetRequest = endpoint({
  method: 'POST',
  path: '/admin/dataset-requests/:requestId/answer',
  summary: 'Grant or refuse what somebody asked for',
  access: 'users.manage',
  language: 'tr',
  body: z.object({ granted: z.boolean(), reason: Reason.optional() }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_answered'],
});

/** A restricted dataset that one may ask for, or has asked for. */
export const RequestableDataset = z
  .object({
    name: z.string(),
    granted: z.boolean(),
    request: z
      .object({
        at: Timestamp,
        reason: z.string(),
        answer: z.enum(['granted', 'refused']).nullable().meta({ description: 'Null: not answered yet' }),
        answer_reason: z.string().nullable(),
      })
      .nullable()
      .meta({ description: "The caller's own last request" }),
  })
  .meta({ id: 'RequestableDataset' });
export type RequestableDataset = z.infer<typeof RequestableDataset>;

/** Restricted datasets that are not listed are not among them, whether or not they exist. */
export const listRequestableDatasets = endpoint({
  method: 'GET',
  path: '/image-catalog/datasets',
  summary: 'Restricted datasets that may be asked for, and what became of the own requests',
  access: 'catalogue.read',
  language: 'en',
  response: z.object({ datasets: z.array(RequestableDataset) }),
  status: 200,
  errors: [],
});

export const requestDataset = endpoint({
  method: 'POST',
  path: '/image-catalog/dataset-requests',
  summary: 'Ask an administrator for a listed dataset; asking again changes the reason',
  access: 'catalogue.read',
  language: 'en',
  body: z.object({
    dataset: DatasetName,
    reason: z
      .string()
      .trim()
      .min(1, rule('en', 'Neden gerektiğini lütfen yazın.', 'Please say why you need it.'))
      .max(1000, rule('en', 'En fazla 1000 karakter olabilir.', 'At most 1000 characters.'))
      .regex(
        /^(?:[^\p{Cc}]|[\n\r\t])*$/u,
        rule('en', 'Metin geçersiz karakter içeriyor.', 'The text has characters that are not allowed.'),
      ),
  }),
  response: Message,
  status: 200,
  errors: ['not_found'],
});
