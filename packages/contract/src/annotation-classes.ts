/** Endpoints for the annotation classes of a dataset. A class has a name, a colour and, optionally, a digit as its keyboard shortcut. */
import { z } from 'zod';
import { AnnotationColor } from './annotation-layers.ts';
import { endpoint } from './endpoint.ts';
import { SingleLine } from './text.ts';

const hexColor = /^#[\da-f]{6}$/i;

/** Accepts `[r, g, b]` and `#rrggbb`, and returns `[r, g, b]`. */
const ClassColor = z.union([
  AnnotationColor,
  z
    .string()
    .regex(hexColor)
    .transform((hex): AnnotationColor => {
      const rgb = Number.parseInt(hex.slice(1), 16); // 8 bits each of red, green and blue
      return [rgb >> 16, (rgb >> 8) & 255, rgb & 255];
    }),
]);

/** Accepts a digit as text or as a number, and returns it as text. Null means no shortcut. */
const Shortcut = z
  .union([z.string().regex(/^\d$/), z.number().int().min(0).max(9).transform(String)])
  .nullable()
  .default(null);

export const AnnotationClass = z
  .object({
    name: z.string(),
    color: AnnotationColor,
    shortcut: z.string().nullable().meta({ description: 'One digit; null: none' }),
  })
  .meta({ id: 'AnnotationClass' });
export type AnnotationClass = z.infer<typeof AnnotationClass>;

/**
 * Classes of a new dataset and of slides without a dataset. They equal QuPath's default classes, in which an asterisk marks classes
 * that classifiers ignore.
 */
export const defaultAnnotationClasses: readonly AnnotationClass[] = [
  { name: 'Tumor', color: [200, 0, 0], shortcut: '1' },
  { name: 'Stroma', color: [150, 200, 150], shortcut: '2' },
  { name: 'Immune cells', color: [160, 90, 160], shortcut: '3' },
  { name: 'Necrosis', color: [50, 50, 50], shortcut: '4' },
  { name: 'Other', color: [255, 200, 0], shortcut: '5' },
  { name: 'Region*', color: [0, 0, 180], shortcut: '6' },
  { name: 'Ignore*', color: [180, 180, 180], shortcut: '7' },
  { name: 'Positive', color: [250, 62, 62], shortcut: '8' },
  { name: 'Negative', color: [112, 112, 225], shortcut: '9' },
];

const Classes = z.object({
  classes: z.array(AnnotationClass),
  version: z.number().int().meta({ description: 'Increments with every change; 0: the default classes' }),
});

/** `datasetId` is the percent-encoded name of the dataset. Names that differ only in case or Unicode form are the same dataset. */
export const getAnnotationClasses = endpoint({
  method: 'GET',
  path: '/datasets/:datasetId/annotation-classes',
  summary: 'Classes of the annotations of a dataset',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  response: Classes,
  status: 200,
  errors: [],
});

export const updateAnnotationClasses = endpoint({
  method: 'PUT',
  path: '/datasets/:datasetId/annotation-classes',
  summary: 'Replace the classes of a dataset; the response to an old version is 409 with the current classes',
  access: 'annotations.manage',
  defaultMessageLanguage: 'en',
  body: z.object({
    classes: z
      .array(
        z.object({
          name: SingleLine.min(1).max(200),
          color: ClassColor,
          shortcut: Shortcut,
        }),
      )
      .max(100)
      .refine(
        (classes) => new Set(classes.map(({ name }) => name)).size === classes.length,
        'A class occurs twice.',
      )
      .refine((classes) => {
        const digits = classes.flatMap(({ shortcut }) => shortcut ?? []);
        return new Set(digits).size === digits.length;
      }, 'A shortcut occurs twice.'),
    version: z.number().int().meta({ description: 'The version that the caller has read' }),
  }),
  response: Classes,
  status: 200,
  errors: ['conflict'],
});
