/** Endpoints for annotation layers and annotation counts. A layer has an owner, a visibility, a rule for editing, and a lock. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { optionalSessionQuery } from './images.ts';
import { SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';

/** Who sees the layer. `private`: the owner and administrators; `members`: all accounts that may view the slide. */
export const LayerVisibility = z.enum(['private', 'members']);
export type LayerVisibility = z.infer<typeof LayerVisibility>;

/** Who may change the annotations. `owner`: owner and administrators; `members`: all readers of the layer who may write annotations. */
export const LayerEditing = z.enum(['owner', 'members']);
export type LayerEditing = z.infer<typeof LayerEditing>;

/** Where the annotations of a layer come from, as the client that creates the layer states it. */
export const LayerSource = z.enum(['manual', 'import', 'api']);
export type LayerSource = z.infer<typeof LayerSource>;

/** Limits of a layer, and of the changes in a request. A program with more objects stores a read-only result layer. */
export const annotationLayerLimits = {
  annotations: 50_000,
  vertices: 5_000_000,
  changesPerCall: 1000,
} as const;

/** Number of days for which a deleted layer or annotation can be restored. */
export const annotationRetentionDays = 30;

/** Red, green and blue, 0 to 255 each. */
export const AnnotationColor = z.tuple([
  z.number().int().min(0).max(255),
  z.number().int().min(0).max(255),
  z.number().int().min(0).max(255),
]);
export type AnnotationColor = z.infer<typeof AnnotationColor>;

export const AnnotationLayer = z
  .object({
    id: z.string(),
    image_id: z.string(),
    name: z.string(),
    owner: z.string().nullable().meta({
      description:
        'uid of the account. Null when the account was deleted, and administrators own the layer; null for every visitor of a share link',
    }),
    owner_name: z.string().nullable().meta({ description: 'Display name; null when the account has none' }),
    visibility: LayerVisibility,
    editing: LayerEditing,
    locked: z.boolean().meta({ description: 'While locked, no account changes the annotations' }),
    source: LayerSource,
    created_at: Timestamp,
    updated_at: Timestamp,
    version: z
      .number()
      .int()
      .meta({ description: 'Increments with every change of the layer or its annotations' }),
    deleted_at: Timestamp.nullable(),
    annotation_count: z.number().int(),
    counts: z
      .array(
        z.object({
          name: z.string().nullable().meta({ description: 'Class; null: annotations without a class' }),
          color: AnnotationColor.nullable(),
          count: z.number().int(),
        }),
      )
      .meta({ description: 'Annotations per class, the most frequent class first' }),
    rights: z
      .object({
        annotate: z.boolean().meta({ description: 'May change annotations now' }),
        manage: z.boolean().meta({ description: 'May rename, share and delete the layer' }),
        lock: z.boolean().meta({ description: 'May lock or unlock the layer' }),
      })
      .meta({ description: 'Rights of the caller' }),
  })
  .meta({ id: 'AnnotationLayer' });
export type AnnotationLayer = z.infer<typeof AnnotationLayer>;

const LayerName = SingleLine.min(1).max(200);

export const listAnnotationLayers = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/annotation-layers',
  summary: 'Annotation layers of a slide that the caller may read, or that a share link shows, oldest first',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery.extend({
    deleted: z
      .enum(['true', 'false'])
      .optional()
      .meta({ description: '`true`: deleted layers that the caller may restore, instead of the others' }),
  }),
  response: z.object({ layers: z.array(AnnotationLayer) }),
  status: 200,
  errors: [],
});

export const createAnnotationLayer = endpoint({
  method: 'POST',
  path: '/image-catalog/images/:imageId/annotation-layers',
  summary: 'Create an annotation layer; by default only its owner may see and change it',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  body: z.object({
    name: LayerName,
    visibility: LayerVisibility.default('private'),
    editing: LayerEditing.default('owner'),
    source: LayerSource.optional().meta({
      description: 'Default: `api` with an API token, otherwise `manual`',
    }),
  }),
  response: AnnotationLayer,
  status: 201,
  errors: ['too_many_layers'],
});

export const updateAnnotationLayer = endpoint({
  method: 'PATCH',
  path: '/annotation-layers/:layerId',
  summary:
    'Rename, share, lock or unlock a layer; the response to an old version is 409 with the current layer',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  body: z.object({
    name: LayerName.optional(),
    visibility: LayerVisibility.optional(),
    editing: LayerEditing.optional(),
    locked: z.boolean().optional(),
    version: z.number().int().meta({ description: 'The version of the layer that the caller has read' }),
  }),
  response: AnnotationLayer,
  status: 200,
  errors: ['conflict', 'layer_locked'],
});

export const deleteAnnotationLayer = endpoint({
  method: 'DELETE',
  path: '/annotation-layers/:layerId',
  summary: 'Delete a layer; its owner and administrators can restore it for 30 days',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  response: null,
  status: 204,
  errors: ['layer_locked'],
});

export const restoreAnnotationLayer = endpoint({
  method: 'POST',
  path: '/annotation-layers/:layerId/restore',
  summary: 'Restore a deleted layer; a layer that is not deleted stays unchanged',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  response: AnnotationLayer,
  status: 200,
  errors: [],
});

/** A slide with a recent change of its annotations, and the layer that changed last. */
export const AnnotatedSlide = z
  .object({
    image_id: z.string(),
    file_name: z.string(),
    layer_id: z.string(),
    layer_name: z.string(),
    owner: z.string().nullable().meta({ description: 'uid of the account; null: the account was deleted' }),
    owner_name: z.string().nullable(),
    annotation_count: z.number().int().meta({ description: 'Annotations of the layer' }),
    updated_at: Timestamp,
  })
  .meta({ id: 'AnnotatedSlide' });
export type AnnotatedSlide = z.infer<typeof AnnotatedSlide>;

export const listRecentAnnotations = endpoint({
  method: 'GET',
  path: '/user/recent-annotations',
  summary:
    'The slides, at most 8, whose annotations changed most recently, in layers that the caller may read',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  response: z.object({ slides: z.array(AnnotatedSlide) }),
  status: 200,
  errors: [],
});

/** Maximum number of slides in one request of `countAnnotations`. */
export const maxCountedSlides = 100;
/** UUIDs of 36 characters, separated by commas. */
const uuidListPattern = new RegExp(`^[0-9a-f-]{36}(,[0-9a-f-]{36}){0,${maxCountedSlides - 1}}$`);

export const countAnnotations = endpoint({
  method: 'GET',
  path: '/image-catalog/annotation-counts',
  summary: 'Number of annotations of each given slide, in the layers that the caller may read',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  query: z.object({
    images: z
      .string()
      .max(37 * maxCountedSlides) // an id has 36 characters, followed by a comma
      .regex(uuidListPattern)
      .meta({ description: 'Ids of slides, separated by commas' }),
  }),
  response: z.object({
    counts: z.record(z.string(), z.number().int()).meta({
      description:
        'Number of annotations by slide id. Slides without annotations and slides that the caller may not view are left out',
    }),
  }),
  status: 200,
  errors: [],
});
