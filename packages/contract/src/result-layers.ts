/**
 * Endpoints for the result layers of a slide: rasters or objects that a program has computed. Their content never
 * changes. The program uploads the file of a layer with tus, a protocol for resumable uploads (tus.io). The permissions
 * for annotations apply to result layers too.
 */
import { z } from 'zod';
import { Coordinate } from './coordinate.ts';
import { endpoint } from './endpoint.ts';
import { SingleLine } from './text.ts';
import { Timestamp } from './timestamp.ts';
import { tusCreation, tusPart, tusState } from './tus.ts';

/** `raster`: an image with one band of values; `vector`: up to millions of outlines or points. */
export const ResultKind = z.enum(['raster', 'vector']);
export type ResultKind = z.infer<typeof ResultKind>;

/**
 * The state of a result layer:
 * - `uploading`: the server waits for the file
 * - `queued`: the file is complete, the import waits
 * - `importing`: the server reads the file
 * - `ready`: the layer can be displayed
 * - `failed`: the server rejected the file; `problem` states the reason
 */
export const ResultState = z.enum(['uploading', 'queued', 'importing', 'ready', 'failed']);
export type ResultState = z.infer<typeof ResultState>;

/**
 * Origin of a result layer. `upload`: created with a sign-in; `api`: created with an API token; `folder`: the server found the file by
 * its name beside the slide, on disk or in object storage.
 */
export const ResultSource = z.enum(['upload', 'api', 'folder']);
export type ResultSource = z.infer<typeof ResultSource>;

/**
 * Places the content on the slide:
 * - `full-size`: a raster covers the whole slide; coordinates of objects are pixels of full resolution
 * - `pixel-size`: a pixel of the content is `mpp` micrometres wide and high, and the content begins at the upper left corner of the slide
 * - `affine`: x' = a x + c y + e, y' = b x + d y + f, to pixels of full resolution
 */
export const ResultRegistration = z
  .discriminatedUnion('method', [
    z.object({ method: z.literal('full-size') }),
    z.object({ method: z.literal('pixel-size'), mpp: z.number().min(1e-4).max(1e4) }),
    z.object({
      method: z.literal('affine'),
      matrix: z
        .tuple([Coordinate, Coordinate, Coordinate, Coordinate, Coordinate, Coordinate])
        .meta({ description: 'a, b, c, d, e, f; the transform must be invertible' }),
    }),
  ])
  .meta({ id: 'ResultRegistration' });
export type ResultRegistration = z.infer<typeof ResultRegistration>;

export const ResultLayer = z
  .object({
    id: z.string(),
    image_id: z.string(),
    name: z.string(),
    kind: ResultKind,
    owner: z.string().nullable().meta({
      description: 'uid of the account; null: found beside the slide, or the account was deleted',
    }),
    owner_name: z.string().nullable(),
    source: ResultSource,
    state: ResultState,
    progress: z.number().min(0).max(1).meta({ description: 'Completed fraction of the import' }),
    problem: z
      .object({ code: z.string(), message: z.string() })
      .nullable()
      .meta({ description: 'Why the server rejected the file' }),
    size_bytes: z.number().int().meta({ description: 'Size on the disk of the server' }),
    object_count: z
      .number()
      .int()
      .nullable()
      .meta({ description: 'Null unless it is a vector layer that is ready' }),
    created_at: Timestamp,
    updated_at: Timestamp,
    upload: z.string().nullable().meta({
      description: 'tus URL of the file for the owner while the layer waits for the file; otherwise null',
    }),
    rights: z.object({ manage: z.boolean().meta({ description: 'May delete the layer' }) }),
  })
  .meta({ id: 'ResultLayer' });
export type ResultLayer = z.infer<typeof ResultLayer>;

export const listResultLayers = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId/result-layers',
  summary: 'Result layers of a slide, oldest first',
  access: 'annotations.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  response: z.object({ layers: z.array(ResultLayer) }),
  status: 200,
  errors: [],
});

export const createResultLayer = endpoint({
  method: 'POST',
  path: '/image-catalog/images/:imageId/result-layers',
  summary: 'Create a result layer; the response contains the tus URL to which its file is sent',
  access: 'annotations.write',
  apiTokenScope: 'results:write',
  defaultMessageLanguage: 'en',
  body: z.object({
    name: SingleLine.min(1).max(200),
    kind: ResultKind,
    registration: ResultRegistration.optional().meta({
      description: 'Default: `full-size`',
    }),
  }),
  response: ResultLayer,
  status: 201,
  errors: ['too_many_layers'],
});

export const deleteResultLayer = endpoint({
  method: 'DELETE',
  path: '/result-layers/:layerId',
  summary: 'Delete a result layer and its file; only its owner and administrators may',
  access: 'annotations.write',
  apiTokenScope: 'results:write',
  defaultMessageLanguage: 'en',
  response: null,
  status: 204,
  errors: [],
});

const resultFile = {
  access: 'annotations.write',
  apiTokenScope: 'results:write',
  defaultMessageLanguage: 'en',
} as const;

/** Creates a tus upload, whose size is in the header `Upload-Length`. `Location` in the response is the URL of this request. */
export const createResultFile = endpoint({
  ...resultFile,
  method: 'POST',
  path: '/result-layers/:layerId/file',
  summary: 'tus: create the file of a result layer',
  documented: tusCreation(),
  response: null,
  status: 201,
  errors: ['upload_ended', 'upload_too_large', 'quota_exceeded', 'storage_full'],
});

/** tus clients send HEAD. Responses have `Upload-Offset` and `Upload-Length`, or `Upload-Defer-Length: 1` (unknown). */
export const getResultFile = endpoint({
  ...resultFile,
  method: 'GET',
  path: '/result-layers/:layerId/file',
  summary: 'tus: number of bytes that the server has received; the body is the layer, also during the import',
  documented: tusState(ResultLayer, {
    'Upload-Defer-Length': '`1` instead of `Upload-Length` while the server does not know the size',
  }),
  response: ResultLayer,
  status: 200,
  errors: [],
});

/** Without an earlier call of `createResultFile`, the first part needs `Upload-Length`. The last byte starts the import. */
export const sendResultFile = endpoint({
  ...resultFile,
  method: 'PATCH',
  path: '/result-layers/:layerId/file',
  summary: 'tus: send the next part of the file',
  documented: tusPart({ mayStateLength: true }),
  isStreamed: true,
  response: null,
  status: 204,
  errors: ['conflict', 'upload_ended', 'upload_too_large', 'quota_exceeded', 'storage_full'],
});
