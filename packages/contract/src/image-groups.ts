/**
 * Endpoints with which the viewer screen reads the catalogue: groups with their image counts, and pages of images. A group
 * is a dataset, divided into cases. All groups, one after the other, form one list. A page is addressed by the position
 * of its first image in this list, so that the viewer can scroll to any part.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Image, optionalSessionQuery } from './images.ts';
import { ComparedName, SearchText } from './text.ts';

/**
 * The order of a list of images:
 * - `name`: natural order of datasets, cases and file names. Within a dataset, images of cases come before images without a case.
 * - `newest`, `largest`: images by the time when they were added, or by the size of their files, largest value first. The
 *   images of a dataset stay together, and datasets are sorted by their newest or largest image. Cases have no effect.
 */
export const ImageOrder = z.enum(['name', 'newest', 'largest']);
export type ImageOrder = z.infer<typeof ImageOrder>;

/** Maximum number of images in one response of `listImageRows`. A row is an image. */
export const maxImageRows = 200;

const Name = ComparedName.max(255);
/** Value of `no_dataset` and `no_organ`. These filters take precedence over `dataset` and `organ`, respectively. */
const OnlyWithout = z.literal('true');

const listQuery = optionalSessionQuery.extend({
  q: SearchText.optional().meta({
    description: 'Words in file name, id, organ or dataset; case and diacritics do not count',
  }),
  dataset: Name.optional(),
  no_dataset: OnlyWithout.optional().meta({ description: 'Images without a dataset' }),
  organ: Name.optional(),
  no_organ: OnlyWithout.optional().meta({ description: 'Images without an organ' }),
  order: ImageOrder.default('name'),
});

const count = z.number().int();
const datasetName = z.string().nullable().meta({ description: 'Null: images without a dataset' });
const revision = z.string().meta({
  description: 'Changes when the catalogue changes; positions of different revisions do not correspond',
});

export const listImageGroups = endpoint({
  method: 'GET',
  path: '/image-catalog/images/groups',
  summary: 'Groups of the catalogue with their numbers of images, and the choices of its filters',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: listQuery,
  response: z.object({
    revision,
    groups: z
      .array(
        z.object({
          dataset_name: datasetName,
          images: count,
          cases: z
            .array(z.object({ id: z.string(), name: z.string(), images: count }))
            .optional()
            .meta({
              description:
                'Cases that have images in this list, in the order of the list. Their images come first in the dataset, case by case. Present only in the order `name` and if there are such cases',
            }),
        }),
      )
      .meta({ description: 'Datasets that have images in this list, in the order of the list' }),
    datasets: z.array(z.object({ dataset_name: datasetName, images: count })).meta({
      description:
        'All datasets, each with the number of its images that match the other filters, without `dataset` and `no_dataset`',
    }),
    organs: z.array(z.object({ organ_type: z.string().nullable(), images: count })).meta({
      description:
        'All organs, each with the number of its images that match the other filters, without `organ` and `no_organ`',
    }),
  }),
  hasEtag: true,
  status: 200,
  errors: ['session_invalid'],
});

export const listImageRows = endpoint({
  method: 'GET',
  path: '/image-catalog/images/rows',
  summary: 'A page of the list that the groups form',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: listQuery.extend({
    from: z.coerce
      .number()
      .int()
      .min(0)
      .max(10_000_000)
      .default(0)
      .meta({ description: 'Position of the first row' }),
    limit: z.coerce.number().int().min(1).max(maxImageRows).default(100),
  }),
  response: z.object({ revision, images: z.array(Image) }),
  status: 200,
  errors: ['session_invalid'],
});

export const getImagePosition = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/position',
  summary: 'Position of an image in the list that the groups form',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: listQuery,
  response: z.object({
    revision,
    position: count.nullable().meta({ description: 'Null: the list does not contain the image' }),
  }),
  status: 200,
  errors: ['session_invalid', 'not_found'],
});
