/** Endpoints for access to datasets: administrators restrict and grant it, and members (other users) request it. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { ComparedName, Id, MultiLine } from './text.ts';
import { Timestamp } from './timestamp.ts';
import { Message, Reason } from './users.ts';

/** Who may view the slides. `open`: every active account that may view slides; `restricted`: accounts with a grant, and administrators. */
export const DatasetAccess = z.enum(['open', 'restricted']);
export type DatasetAccess = z.infer<typeof DatasetAccess>;

const DatasetName = ComparedName.trim().min(1).max(255);

/** The account of a grant or a request, as administrators see it. */
const Person = { uid: z.string(), email: z.string(), displayName: z.string().nullable() };

export const DatasetGrant = z
  .object({
    ...Person,
    at: Timestamp,
    download: z.boolean().meta({ description: 'May download original files' }),
  })
  .meta({ id: 'DatasetGrant' });
export type DatasetGrant = z.infer<typeof DatasetGrant>;

export const DatasetRequest = z
  .object({ ...Person, id: z.string(), at: Timestamp, reason: z.string() })
  .meta({ id: 'DatasetRequest' });
export type DatasetRequest = z.infer<typeof DatasetRequest>;

export const Dataset = z
  .object({
    name: z.string(),
    access: DatasetAccess,
    listed: z.boolean().meta({ description: 'Members see that it exists, and may request access' }),
    sharing: z.boolean().meta({ description: 'Share links may open its slides' }),
    images: z.number().int(),
    identifiable_originals: z
      .boolean()
      .meta({ description: 'Originals that cannot be de-identified may be downloaded unchanged' }),
    grants: z.array(DatasetGrant).meta({ description: 'Oldest first' }),
    requests: z.array(DatasetRequest).meta({ description: 'Not answered yet, oldest first' }),
  })
  .meta({ id: 'Dataset' });
export type Dataset = z.infer<typeof Dataset>;

export const listDatasets = endpoint({
  method: 'GET',
  path: '/admin/datasets',
  summary: 'All datasets, with their grants and unanswered requests',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  response: z.object({ datasets: z.array(Dataset) }),
  status: 200,
  errors: [],
});

export const updateDataset = endpoint({
  method: 'PUT',
  path: '/admin/datasets',
  summary: 'Open or restrict a dataset, also before it has slides. Its grants stay',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({
    dataset: DatasetName,
    access: DatasetAccess.optional().meta({ description: 'Default: unchanged' }),
    listed: z.boolean().optional(),
    sharing: z.boolean().optional().meta({
      description:
        'Whether share links may open its slides; default: unchanged, but false when an open dataset is restricted',
    }),
    identifiable_originals: z.boolean().optional().meta({ description: 'Default: unchanged' }),
  }),
  response: Message,
  status: 200,
  errors: ['not_found'],
});

export const grantDataset = endpoint({
  method: 'POST',
  path: '/admin/datasets/grants',
  summary: 'Grant an account access to a dataset',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({
    dataset: DatasetName,
    uid: Id,
    download: z
      .boolean()
      .optional()
      .meta({ description: 'Whether the account may download original files; default: unchanged' }),
  }),
  response: Message,
  status: 200,
  errors: ['not_found'],
});

export const revokeDataset = endpoint({
  method: 'DELETE',
  path: '/admin/datasets/grants',
  summary: 'Revoke a grant; the account immediately loses access to the slides and tiles',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  query: z.object({ dataset: DatasetName, uid: Id }),
  response: Message,
  status: 200,
  errors: [],
});

export const answerDatasetRequest = endpoint({
  method: 'POST',
  path: '/admin/dataset-requests/:requestId/answer',
  summary: 'Grant or reject a request for a dataset',
  access: 'users.manage',
  defaultMessageLanguage: 'tr',
  body: z.object({ granted: z.boolean(), reason: Reason.optional() }),
  response: Message,
  status: 200,
  errors: ['not_found', 'already_answered'],
});

/** A restricted dataset that the caller may request, or has requested. */
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

/** The response does not contain restricted datasets that are not listed, so that it does not reveal whether they exist. */
export const listRequestableDatasets = endpoint({
  method: 'GET',
  path: '/image-catalog/datasets',
  summary: "Restricted datasets that may be requested, with the state of the caller's requests",
  access: 'catalogue.read',
  defaultMessageLanguage: 'en',
  response: z.object({ datasets: z.array(RequestableDataset) }),
  status: 200,
  errors: [],
});

export const requestDataset = endpoint({
  method: 'POST',
  path: '/image-catalog/dataset-requests',
  summary: 'Ask an administrator for a listed dataset; asking again changes the reason',
  access: 'catalogue.read',
  defaultMessageLanguage: 'en',
  body: z.object({
    dataset: DatasetName,
    reason: MultiLine.min(1, reason('request_reason_required')).max(1000, reason('text_too_long')),
  }),
  response: Message,
  status: 200,
  errors: ['not_found', 'rate_limited'],
});
