/** Endpoints that import and export annotation files of other programs, such as QuPath and ASAP. */
import { z } from 'zod';
import { geoJsonType } from './annotations.ts';
import { endpoint } from './endpoint.ts';

/** Maximum size of an annotation file in bytes, before and after decompression. */
export const maxAnnotationFileBytes = 64 * 2 ** 20;

/** Content types that the import accepts. The file may be compressed with gzip. */
export const annotationFileTypes = [
  geoJsonType,
  'application/json',
  'application/xml',
  'text/xml',
  'application/gzip',
  'application/octet-stream',
] as const;

/** A Boolean query parameter; false when it is absent. */
const BooleanText = z
  .enum(['true', 'false'])
  .optional()
  .transform((value) => value === 'true');
/** The origin of the coordinates in the file. `bounds`: the corner of the scanned area of the slide, as in QuPath for MIRAX slides. */
const OffsetName = z.enum(['none', 'bounds']).default('none');
const Offset = z.coerce.number().min(-1e9).max(1e9).default(0);

export const RefusedFeature = z
  .object({
    feature: z.number().int().meta({ description: 'Number of the feature in the file, from 1' }),
    line: z.number().int().nullable().meta({ description: 'Line of the file, from 1; null for JSON' }),
    code: z.string(),
    path: z.string().meta({ description: 'Path of the invalid value, such as geometry.coordinates[0][3]' }),
    message: z.string().meta({ description: 'Text for the user' }),
  })
  .meta({ id: 'RefusedFeature' });
export type RefusedFeature = z.infer<typeof RefusedFeature>;

/** The result of an import. The result of a dry run states what the import would do. */
export const AnnotationImport = z
  .object({
    dry_run: z.boolean(),
    format: z
      .enum(['qupath', 'geojson', 'asap', 'aperio', 'dsa'])
      .meta({ description: 'Format in which the file was read' }),
    imported: z.number().int().meta({ description: 'Annotations created or changed; 0 in a dry run' }),
    features: z.number().int().meta({ description: 'Valid annotations in the file' }),
    vertices: z.number().int(),
    types: z.record(z.string(), z.number().int()).meta({ description: 'Annotations by object type' }),
    classes: z
      .array(z.object({ name: z.string().nullable(), count: z.number().int() }))
      .meta({ description: 'Annotations by class; null: without a class' }),
    warnings: z
      .array(z.object({ code: z.string(), count: z.number().int(), message: z.string() }))
      .meta({ description: 'Changes and omissions while reading the file' }),
    refused_count: z.number().int(),
    refused: z.array(RefusedFeature).meta({ description: 'The first 100 invalid features' }),
    version: z.number().int().meta({ description: 'Version of the layer afterwards' }),
  })
  .meta({ id: 'AnnotationImport' });
export type AnnotationImport = z.infer<typeof AnnotationImport>;

/** Imports all annotations or none, unless `skip_refused` is set. An annotation with the id of one in the layer replaces that one. */
export const importAnnotationFile = endpoint({
  method: 'POST',
  path: '/annotation-layers/:layerId/import',
  summary:
    'Import a file of QuPath, ASAP, Aperio ImageScope or the Digital Slide Archive; if a feature is invalid, nothing is imported and the response is 400 with the invalid features',
  access: 'annotations.write',
  apiTokenScope: 'annotations:write',
  defaultMessageLanguage: 'en',
  query: z.object({
    dry_run: BooleanText.meta({ description: '`true`: check the file without importing it' }),
    skip_refused: BooleanText.meta({ description: '`true`: import the valid features and skip the others' }),
    format: z.enum(['auto', 'qupath', 'geojson', 'asap', 'aperio', 'dsa']).default('auto'),
    offset: OffsetName.meta({
      description:
        '`bounds`: coordinates of the file count from the scanned area, as in QuPath; without effect on slides whose file states no scanned area',
    }),
    offset_x: Offset.meta({ description: 'Pixels added to every x coordinate' }),
    offset_y: Offset.meta({ description: 'Pixels added to every y coordinate' }),
  }),
  // `contentType` is for the documentation and the error text; the route accepts all `annotationFileTypes`.
  upload: { contentType: geoJsonType, maxBytes: maxAnnotationFileBytes },
  response: AnnotationImport,
  status: 200,
  errors: ['layer_locked', 'layer_full', 'slide_corrupt', 'storage_timeout'],
});

/**
 * Header of an export that lists what the format cannot store, as a structured dictionary (RFC 9651) of warning codes and numbers
 * of annotations, such as `lines_left_out=2, hierarchy_flattened=7`. Absent when nothing is lost.
 */
export const exportWarningsHeader = 'Lamina-Export-Warnings';

export const annotationExportFormats = ['qupath', 'geojson', 'asap', 'aperio', 'csv'] as const;

/** The content type of the response depends on `format`: GeoJSON (the declared type), XML or CSV. */
export const exportAnnotationFile = endpoint({
  method: 'GET',
  path: '/annotation-layers/:layerId/export',
  summary:
    'Export the annotations of a layer as GeoJSON of QuPath, plain GeoJSON, XML of ASAP or Aperio, or CSV',
  access: 'annotations.read',
  apiTokenScope: 'annotations:read',
  defaultMessageLanguage: 'en',
  query: z.object({
    format: z.enum(annotationExportFormats).default('qupath'),
    offset: OffsetName.meta({
      description:
        '`bounds`: count coordinates from the scanned area, as QuPath does; without effect on slides that state none',
    }),
    offset_x: Offset.meta({ description: 'Pixels subtracted from every x coordinate' }),
    offset_y: Offset.meta({ description: 'Pixels subtracted from every y coordinate' }),
  }),
  response: geoJsonType,
  documented: {
    responses: {
      200: {
        description: 'The file',
        content: { [geoJsonType]: null, 'application/xml': null, 'text/csv': null },
        headers: {
          [exportWarningsHeader]:
            'What the format cannot store: warning codes with numbers of annotations, such as `lines_left_out=2, hierarchy_flattened=7`',
        },
      },
    },
  },
  status: 200,
  errors: ['slide_corrupt', 'storage_timeout'],
});
