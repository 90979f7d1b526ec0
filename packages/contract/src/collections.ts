/**
 * Endpoints for collections: ordered lists of slides, cases and saved views, with texts and questions, for example for teaching. A
 * collection gives its readers no right to view a slide. The web app shows a collection step by step, and its owner can present it.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { optionalSessionQuery } from './images.ts';
import { FieldOfView, ItemText, ItemTitle } from './saved-views.ts';
import { Id, MultiLine, SingleLine } from './text.ts';

export const CollectionItemType = z.enum(['slide', 'case', 'view']);
export type CollectionItemType = z.infer<typeof CollectionItemType>;

/** Maximum number of collections that an account may own. */
export const maxOwnCollections = 200;
/** Maximum number of collections in a list. */
export const maxListedCollections = 1000;

const maxItems = 500;
const maxReaders = 1000;
/** Maximum size of a collection as JSON: every item may have a text of 4000 characters of three bytes each, and some a question. */
const maxCollectionBytes = 8 * 2 ** 20;

const QuestionText = MultiLine.min(1).max(2000, reason('text_too_long'));
const Explanation = ItemText.optional().meta({ description: 'Returned with the result of an answer' });
/** A GeoJSON position: x, y and optionally a third number. */
const Position = z.array(z.number()).min(2).max(3);

/** A polygon in pixels of full resolution. */
const Polygon = z.object({
  type: z.literal('Polygon'),
  coordinates: z.array(z.array(Position).min(4).max(2000)).min(1).max(20),
});

/** Largest number of choices that a question can have. */
export const maxChoices = 20;

const choices = z
  .array(SingleLine.min(1).max(300, reason('text_too_long')))
  .min(2)
  .max(maxChoices);

/**
 * A question with its correct answer, as the owner of the collection writes it. The answer to a `region` question is a point, which is
 * correct inside `region`.
 */
export const Question = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('choice'),
    text: QuestionText,
    choices,
    correct: z
      .array(
        z
          .number()
          .int()
          .min(0)
          .max(maxChoices - 1),
      )
      .max(maxChoices), // indexes of the correct choices
    explanation: Explanation,
  }),
  z.object({ kind: z.literal('region'), text: QuestionText, region: Polygon, explanation: Explanation }),
  z.object({ kind: z.literal('text'), text: QuestionText, explanation: Explanation }),
]);
export type Question = z.infer<typeof Question>;

/** A question in a response. Only the owner of the collection receives `correct`, `region` and `explanation`. */
export const QuestionInResponse = z
  .object({
    kind: z.enum(['choice', 'region', 'text']),
    text: z.string(),
    choices: z.array(z.string()).optional(),
    correct: z.array(z.number().int()).optional(),
    region: Polygon.optional(),
    explanation: z.string().optional(),
  })
  .meta({ id: 'Question' });
export type QuestionInResponse = z.infer<typeof QuestionInResponse>;

/** An item of a collection, as the caller sees it. */
export const CollectionItem = z.object({
  type: CollectionItemType,
  id: z.string(),
  text: z.string().nullable(),
  question: QuestionInResponse.nullable(),
  access: z.boolean().meta({ description: 'False: the caller may not view the item' }),
  title: z.string().nullable().meta({ description: 'Name of the slide, case or view; null without access' }),
  images: z.array(z.string()).meta({ description: 'Ids of the slides that the caller may view' }),
  field: FieldOfView.nullable().meta({ description: 'Field of a saved view; null for other items' }),
  colours: z
    .unknown()
    .optional()
    .meta({ description: 'Colour settings of a saved view, as the web app stored them' }),
});
export type CollectionItem = z.infer<typeof CollectionItem>;

const Readers = z.union([z.literal('members'), z.array(z.string())]);

export const Collection = z
  .object({
    id: z.string(),
    version: z.number().int(),
    title: z.string(),
    description: z.string().nullable(),
    owner: z.string().meta({ description: 'uid' }),
    owner_name: z.string().nullable(),
    own: z.boolean(), // the caller is the owner
    items: z.array(CollectionItem),
    readers: Readers.meta({ description: 'Complete for the owner; other callers see at most themselves' }),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Collection' });
export type Collection = z.infer<typeof Collection>;

const description = ItemText.nullable();
const items = z
  .array(
    z.object({
      type: CollectionItemType,
      id: Id,
      text: ItemText.nullable().optional(),
      question: Question.nullable().optional(),
    }),
  )
  .max(maxItems);
const readers = z
  .union([z.literal('members'), z.array(Id).max(maxReaders)])
  .meta({ description: 'Every account with access to the catalogue, or these accounts' });

export const listCollections = endpoint({
  method: 'GET',
  path: '/collections',
  summary:
    'Collections that the caller owns or may read, last changed first; of those of other accounts, only the last changed if there are more than 1000',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'tr',
  query: optionalSessionQuery,
  response: z.object({ collections: z.array(Collection) }),
  status: 200,
  errors: [],
});

export const createCollection = endpoint({
  method: 'POST',
  path: '/collections',
  summary: 'Create a collection',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  maxBodyBytes: maxCollectionBytes,
  body: z.object({
    title: ItemTitle,
    description: description.optional(),
    items: items.default([]),
    readers: readers.default([]),
  }),
  response: Collection,
  status: 201,
  errors: ['not_found', 'too_many_collections', 'rate_limited'],
});

export const getCollection = endpoint({
  method: 'GET',
  path: '/collections/:collectionId',
  summary: 'One collection; `access` of an item is false if the caller may not view it',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'tr',
  query: optionalSessionQuery,
  response: Collection,
  status: 200,
  errors: ['not_found'],
});

export const updateCollection = endpoint({
  method: 'PATCH',
  path: '/collections/:collectionId',
  summary: 'Change a collection of the caller; fields that are left out stay unchanged',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  maxBodyBytes: maxCollectionBytes,
  body: z.object({
    title: ItemTitle.optional(),
    description: description.optional(),
    items: items.optional(),
    readers: readers.optional(),
    version: z.number().int().optional(),
  }),
  response: Collection,
  status: 200,
  errors: ['not_found', 'conflict', 'rate_limited'],
});

export const deleteCollection = endpoint({
  method: 'DELETE',
  path: '/collections/:collectionId',
  summary: 'Delete a collection of the caller with its answers',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

const ItemReference = z
  .union([z.number().int().min(0), Id])
  .meta({ description: 'Position of the item, from 0, or the id of its slide, case or saved view' });

/** The field of view and the item that a presenter shows. */
export const PresentationEvent = z.object({ field: FieldOfView.nullable(), item: ItemReference.nullable() });
export type PresentationEvent = z.infer<typeof PresentationEvent>;

export const present = endpoint({
  method: 'POST',
  path: '/collections/:collectionId/presentation',
  summary: 'Show a field of view and an item to all followers; only for the owner',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  body: z.object({
    field: FieldOfView.nullable().default(null),
    item: ItemReference.nullable().default(null),
  }),
  response: null,
  status: 204,
  errors: ['not_found'],
});

export const followPresentation = endpoint({
  method: 'GET',
  path: '/collections/:collectionId/presentation-events',
  summary:
    'Server-sent events with the field and item that the presenter shows: the current state, then each change',
  access: 'reader-or-visitor',
  defaultMessageLanguage: 'tr',
  query: optionalSessionQuery.extend({
    wait: z.coerce
      .number()
      .int()
      .min(0)
      .max(86_400)
      .optional()
      .meta({ description: 'Seconds until the stream ends; default: no limit while the client has access' }),
  }),
  response: 'text/event-stream',
  status: 200,
  errors: ['not_found'],
});

export const answerQuestion = endpoint({
  method: 'POST',
  path: '/collections/:collectionId/answers',
  summary: 'Answer the question of an item; a later answer replaces the earlier one',
  access: 'reader-or-visitor',
  defaultMessageLanguage: 'tr',
  query: optionalSessionQuery,
  body: z.object({
    item: ItemReference,
    answer: z.union([z.array(z.number()).max(maxChoices), ItemText]).meta({
      description: 'Indexes of the choices, a point [x, y], or a text',
    }),
  }),
  response: z.object({
    correct: z.boolean().nullable().meta({ description: 'Null for a free text, which is not judged' }),
    explanation: z.string().optional(),
  }),
  status: 200,
  errors: ['not_found'],
});

export const CollectionAnswer = z.object({
  item: z.number().int().nullable().meta({ description: 'Null when the question was removed' }),
  question: z.string().nullable(),
  person: z
    .string()
    .meta({ description: 'Display name; “Member 1” without one, “Visitor 1” without an account' }),
  uid: z.string().nullable(),
  answer: z.union([z.array(z.number()), z.string()]),
  correct: z.boolean().nullable(),
  attempts: z.number().int(),
  answered_at: z.iso.datetime(),
});
export type CollectionAnswer = z.infer<typeof CollectionAnswer>;

export const listAnswers = endpoint({
  method: 'GET',
  path: '/collections/:collectionId/answers',
  summary: 'All answers to the questions of a collection, for its owner, as JSON or CSV',
  access: 'sharing.own',
  defaultMessageLanguage: 'tr',
  query: z.object({ format: z.enum(['json', 'csv']).default('json') }),
  response: z.object({ answers: z.array(CollectionAnswer) }),
  status: 200,
  errors: ['not_found'],
});
