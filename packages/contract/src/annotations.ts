/** Endpoints for the annotations of a layer: GeoJSON features as QuPath writes them; the server adds fields to their `properties`. */
import { z } from 'zod';
import { annotationLayerLimits } from './annotation-layers.ts';
import { endpoint } from './endpoint.ts';
import { optionalSessionQuery } from './images.ts';
import { Cursor, Id } from './text.ts';

export const annotationGeometryTypes = [
  'Point',
  'MultiPoint',
  'LineString',
  'MultiLineString',
  'Polygon',
  'MultiPolygon',
] as const;

const Geometry = z
  .looseObject({ type: z.enum(annotationGeometryTypes), coordinates: z.array(z.unknown()) })
  .meta({
    id: 'AnnotationGeometry',
    description:
      'GeoJSON in pixels of full resolution; `plane: {c, z, t}` and `isEllipse: true` as QuPath writes them',
  });

/**
 * A feature as QuPath 0.4 and later versions write it. This schema checks only its structure. The handler also validates the
 * geometry, and accepts the property names of older versions of QuPath.
 */
export const AnnotationFeature = z
  .looseObject({
    type: z.literal('Feature'),
    id: z.guid().meta({ description: 'UUID that the client chooses' }),
    geometry: Geometry,
    nucleusGeometry: Geometry.nullish(),
    properties: z
      .looseObject({})
      .nullish()
      .meta({
        description:
          'objectType, name, color, classification {name, color}, isLocked, measurements, metadata, description, parentId. ' +
          'The server adds revision, created_by, created_at, updated_by and updated_at',
      }),
  })
  .meta({ id: 'AnnotationFeature' });
export type AnnotationFeature = z.infer<typeof AnnotationFeature>;

/** Properties that the server adds to a feature. */
export interface AnnotationRecord {
  readonly revision: number;
  /** The uid of the account. */
  readonly created_by: string;
  readonly created_at: string;
  /** The uid of the account. */
  readonly updated_by: string;
  readonly updated_at: string;
}

/** `put` creates or replaces an annotation; `delete` removes it. */
export const AnnotationChange = z
  .discriminatedUnion('op', [
    z.object({
      op: z.literal('put'),
      feature: AnnotationFeature,
      base_revision: z
        .number()
        .int()
        .positive()
        .nullable()
        .meta({ description: 'Revision that the change is based on; null: a new or deleted annotation' }),
    }),
    z.object({ op: z.literal('delete'), id: z.guid(), base_revision: z.number().int().positive() }),
  ])
  .meta({ id: 'AnnotationChange' });
export type AnnotationChange = z.infer<typeof AnnotationChange>;

/** Content type of annotations in requests and responses (RFC 7946). */
export const geoJsonType = 'application/geo+json';

/**
 * The response is a `FeatureCollection` with further members: `version` of the layer, `event_id` (the event after which
 * `streamAnnotationEvents` continues), `authors` (display names by uid) and `next_cursor`. A visitor of a share link receives only
 * the id, geometry, object type, name, class, colour and lock of an annotation.
 */
export const listAnnotations = endpoint({
  method: 'GET',
  path: '/annotation-layers/:layerId/annotations',
  summary: 'Annotations of a layer in the order of their creation; all of them without a limit',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery.extend({
    bbox: z
      .string()
      .regex(/^-?\d+(\.\d+)?(,-?\d+(\.\d+)?){3}$/)
      .max(200)
      .optional()
      .meta({ description: 'minX,minY,maxX,maxY in pixels of full resolution' }),
    limit: z.coerce.number().int().min(1).max(annotationLayerLimits.annotations).optional(),
    cursor: Cursor.max(100).optional(),
  }),
  response: geoJsonType,
  hasEtag: true,
  status: 200,
  errors: [],
});

/** Applies all changes or none. The error `conflict` contains the current state of the conflicting annotations in `conflicts`. */
export const changeAnnotations = endpoint({
  method: 'POST',
  path: '/annotation-layers/:layerId/changes',
  summary:
    'Create, change and delete annotations, all or none; sending a batch again returns the same response',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  maxBodyBytes: 16 * 2 ** 20,
  body: z.object({
    changes: z.array(AnnotationChange).min(1).max(annotationLayerLimits.changesPerCall),
  }),
  response: z.object({
    version: z.number().int().meta({ description: 'Version of the layer with these changes' }),
    revisions: z.record(z.string(), z.number().int()).meta({ description: 'New revision by annotation' }),
  }),
  status: 200,
  errors: ['conflict', 'layer_locked', 'layer_full'],
});

/**
 * The response is a stream of server-sent events:
 * - `layer`: a new or changed layer, without counts. The client loads the annotations of a new layer with `listAnnotations`.
 * - `layer-removed`: the id of a layer that the client may no longer read, because it was deleted or made private
 * - `annotations`: changes of a layer, `{layer_id, version, changes: [{op: "put", feature} | {op: "delete", id, revision,
 *   updated_by}], authors}`, with display names of authors by uid. If there are more than 500 changes or 512 Ki characters of
 *   features, `reload: true` replaces `changes` and `authors`.
 *
 * A client resumes a stream with the header `Last-Event-ID`: the id of the last event that it has received, or the `event_id` in a
 * response of `listAnnotations`. The client then also lists the layers again, because the stream does not report a layer that was
 * permanently deleted meanwhile: 30 days after its deletion or, if it was private, with the account of its owner.
 */
export const streamAnnotationEvents = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/annotation-events',
  summary: 'Changes of the annotations of a slide as server-sent events; they end when the access ends',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  query: z.object({
    wait: z.coerce.number().int().min(0).max(3600).optional().meta({
      description: 'Seconds after which the stream ends; 0: after the events that are available now',
    }),
  }),
  response: 'text/event-stream',
  status: 200,
  errors: [],
});

/** A stored change of one annotation; `revision` counts the changes of the annotation, `version` those of its layer. */
export const AnnotationRevision = z
  .object({
    annotation: z.string(),
    revision: z.number().int(),
    change: z.enum(['create', 'change', 'delete', 'restore']),
    feature: AnnotationFeature.nullable().meta({
      description: 'The annotation after the change; null for a deletion, and 30 days after a deletion',
    }),
    author: z.string().meta({ description: 'uid' }),
    author_name: z.string().nullable(),
    at: z.iso.datetime(),
    version: z.number().int().meta({ description: 'Version of the layer with this change' }),
  })
  .meta({ id: 'AnnotationRevision' });
export type AnnotationRevision = z.infer<typeof AnnotationRevision>;

export const listAnnotationHistory = endpoint({
  method: 'GET',
  path: '/annotation-layers/:layerId/history',
  summary: 'Every creation, change and deletion in a layer or of one annotation, newest first',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  query: z.object({
    annotation: Id.optional(),
    limit: z.coerce.number().int().min(1).max(500).default(100),
    cursor: Cursor.max(200).optional(),
  }),
  response: z.object({ revisions: z.array(AnnotationRevision), next_cursor: z.string().nullable() }),
  status: 200,
  errors: [],
});

export const restoreAnnotation = endpoint({
  method: 'POST',
  path: '/annotation-layers/:layerId/annotations/:annotationId/restore',
  summary: 'Restore a deleted annotation within 30 days; an annotation that is not deleted stays unchanged',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  response: AnnotationFeature,
  status: 200,
  errors: ['layer_locked', 'layer_full'],
});
