/** Endpoints for cases. A case is an ordered list of slides of one specimen; its registrations are transforms that align two slides. */
import { z } from 'zod';
import { Coordinate } from './coordinate.ts';
import { endpoint } from './endpoint.ts';
import { reason } from './error-reasons.ts';
import { optionalSessionQuery } from './images.ts';
import { ComparedName, Id, MultiLine, SingleLine } from './text.ts';

/** Maximum number of slides in a case. */
export const caseSlidesLimit = 200;

/** Maximum size of a case as JSON: every slide may have a note of 1000 characters of three bytes each. */
const maxCaseBytes = 2 ** 20;

const StainOrBlock = SingleLine.max(100, reason('text_too_long'));
const Note = MultiLine.max(1000, reason('text_too_long'));

export const CaseSlide = z.object({
  image_id: z.string(),
  stain: z.string().nullable(),
  block: z.string().nullable(), // the tissue block from which the slide was cut
  note: z.string().nullable(),
});
export type CaseSlide = z.infer<typeof CaseSlide>;

/** [x, y] in pixels of full resolution. */
const Point = z.tuple([Coordinate, Coordinate]);

/** An affine transform from pixels of one slide to pixels of another one, both at full resolution. */
export const RegistrationMatrix = z
  .tuple([z.number(), z.number(), z.number(), z.number(), z.number(), z.number()])
  .meta({ description: '[a, b, c, d, e, f]: x’ = a·x + c·y + e, y’ = b·x + d·y + f' });
export type RegistrationMatrix = z.infer<typeof RegistrationMatrix>;

const residualMicrometres = z.number().nullable().meta({
  description:
    'Root mean square distance between the transformed `from` points and the `to` points in µm; null if the pixel size of `to_image` is not known',
});

export const CaseRegistration = z.object({
  from_image: z.string(),
  to_image: z.string(),
  matrix: RegistrationMatrix,
  residual_um: residualMicrometres,
});
export type CaseRegistration = z.infer<typeof CaseRegistration>;

export const Case = z
  .object({
    id: z.string(),
    version: z.number().int().meta({ description: 'Increments with every change' }),
    dataset: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    slides: z
      .array(CaseSlide)
      .meta({ description: 'Slides in their order, without those that the caller may not view' }),
    registrations: z.array(CaseRegistration),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'Case' });
export type Case = z.infer<typeof Case>;

const name = SingleLine.min(1).max(200, reason('text_too_long'));
const description = MultiLine.max(4000, reason('text_too_long')).nullable();
const dataset = ComparedName.trim().min(1).max(255);
const slides = z
  .array(
    z.object({
      image_id: Id,
      stain: StainOrBlock.nullable().optional(),
      block: StainOrBlock.nullable().optional(),
      note: Note.nullable().optional(),
    }),
  )
  .max(caseSlidesLimit)
  .refine((list) => new Set(list.map(({ image_id }) => image_id)).size === list.length, {
    message: reason('slide_repeated'),
  });

export const listCases = endpoint({
  method: 'GET',
  path: '/cases',
  summary: 'Cases with viewable slides (administrators: all cases), in natural order of dataset and name',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery.extend({ dataset: ComparedName.max(255).optional() }),
  response: z.object({ cases: z.array(Case) }),
  status: 200,
  errors: [],
});

export const createCase = endpoint({
  method: 'POST',
  path: '/cases',
  summary: 'Create a case',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  maxBodyBytes: maxCaseBytes,
  body: z.object({ dataset, name, description: description.optional(), slides }),
  response: Case,
  status: 201,
  errors: ['not_found'],
});

export const getCase = endpoint({
  method: 'GET',
  path: '/cases/:caseId',
  summary: 'One case',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery,
  response: Case,
  status: 200,
  errors: ['not_found'],
});

export const updateCase = endpoint({
  method: 'PATCH',
  path: '/cases/:caseId',
  summary: 'Change a case; fields that are left out, and slides that the caller may not view, stay unchanged',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  maxBodyBytes: maxCaseBytes,
  body: z.object({
    dataset: dataset.optional(),
    name: name.optional(),
    description: description.optional(),
    slides: slides.optional(),
    version: z.number().int().optional().meta({
      description:
        'The version that the change is based on; a change that is based on an older version is rejected',
    }),
  }),
  response: Case,
  status: 200,
  errors: ['not_found', 'conflict'],
});

export const deleteCase = endpoint({
  method: 'DELETE',
  path: '/cases/:caseId',
  summary: 'Delete a case; its slides stay in the catalogue',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  response: null,
  status: 204,
  errors: ['not_found'],
});

export const registerCaseSlides = endpoint({
  method: 'PUT',
  path: '/cases/:caseId/registrations',
  summary:
    'Register two slides of a case by pairs of points, replacing an earlier registration from and to the same slides: two pairs give a similarity, three or more an affine transform',
  access: 'sharing.own', // also permits registering slides (permissions.ts)
  defaultMessageLanguage: 'en',
  body: z.object({
    from_image: Id,
    to_image: Id,
    points: z
      .array(z.object({ from: Point, to: Point }))
      .min(2)
      .max(100),
  }),
  response: z.object({ matrix: RegistrationMatrix, residual_um: residualMicrometres }),
  status: 200,
  errors: ['not_found', 'rate_limited'],
});
