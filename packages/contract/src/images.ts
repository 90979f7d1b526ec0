/** The catalogue of slides, and their pixels. A catalogue entry is an image; the opened file is a slide. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { Cursor, ExistingName, SingleLine } from './text.ts';

export const ImageStatus = z.enum(['pending', 'ready', 'failed']);
export type ImageStatus = z.infer<typeof ImageStatus>;

const pixels = z
  .number()
  .int()
  .nullable()
  .meta({ description: 'Pixels at full resolution; null until read' });
const micrometres = z
  .number()
  .nullable()
  .meta({ description: 'µm per pixel; null when the file says neither it nor the magnification' });

export const Image = z
  .object({
    id: z.uuid(),
    file_name: z.string(),
    dataset_name: z.string().nullable(),
    organ_type: z.string().nullable(),
    width: pixels,
    height: pixels,
    mpp_x: micrometres,
    mpp_y: micrometres,
    objective_power: z.number().nullable().meta({ description: 'Magnification of the scan, e.g. 20 or 40' }),
    mpp_derived: z
      .boolean()
      .meta({ description: 'mpp_x and mpp_y are estimated from objective_power: not a calibration' }),
    objective_power_derived: z
      .boolean()
      .meta({ description: 'objective_power is the objective that mpp_x and mpp_y are nearest to' }),
    scale_entered: z
      .literal(true)
      .optional()
      .meta({ description: 'An administrator entered the scale; it replaces that of the file' }),
    shown_plane: z
      .object({
        plane: z.number().int().meta({ description: 'From 1' }),
        planes: z.number().int(),
        times: z.number().int().meta({ description: 'Time points, of which the first is shown' }),
      })
      .optional()
      .meta({ description: 'Which focal plane is shown of a file that has several, or several time points' }),
    vendor: z.string().nullable(),
    format: z.string().nullable(),
    size_bytes: z.number().int(),
    status: ImageStatus,
    error: z.string().nullable().meta({ description: 'Why the file could not be read; for administrators' }),
    error_code: z.string().optional().meta({ description: 'Code of that reason, such as `FILE_TRUNCATED`' }),
    hidden: z.boolean().meta({ description: 'Seen by administrators alone' }),
    created_at: z.iso.datetime(),
  })
  .meta({ id: 'Image' });
export type Image = z.infer<typeof Image>;

/** A scale that an administrator enters: the size of a pixel, the magnification of the scan, or both. */
export const EnteredScale = z
  .object({
    mpp: z.number().min(0.001).max(1000).optional().meta({ description: 'µm per pixel at full resolution' }),
    objective_power: z.number().min(0.1).max(1000).optional(),
  })
  .refine(({ mpp, objective_power }) => mpp !== undefined || objective_power !== undefined)
  .meta({ id: 'EnteredScale' });

/** Optional image session of a request; it must be valid and belong to the caller. */
export const sessionAlong = z.object({ session: z.string().optional() });

export const listImages = endpoint({
  method: 'GET',
  path: '/image-catalog/images',
  summary: 'The catalogue; without a limit the whole of it',
  access: 'catalogue.read',
  scope: 'slides:read',
  language: 'en',
  query: sessionAlong.extend({
    q: ExistingName.max(200)
      .optional()
      .meta({ description: 'Words in file name, id, organ or dataset; case and diacritics do not count' }),
    dataset: ExistingName.max(200).optional(),
    organ: ExistingName.max(200).optional(),
    limit: z.coerce.number().int().min(1).max(500).optional(),
    cursor: Cursor.max(500).optional(),
  }),
  response: z.object({
    images: z.array(Image),
    next_cursor: z.string().nullable(),
    message: z.string().optional().meta({ description: 'Text when there are no images' }),
  }),
  status: 200,
  errors: ['session_invalid'],
});

export const getImage = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId',
  summary: 'One catalogue entry',
  access: 'catalogue.read',
  scope: 'slides:read',
  language: 'en',
  query: sessionAlong,
  response: z.object({ image: Image }),
  status: 200,
  errors: ['session_invalid', 'not_found'],
});

export const updateImage = endpoint({
  method: 'PUT',
  path: '/image-catalog/images/:imageId',
  summary: 'Edit what the catalogue says of a slide',
  access: 'catalogue.write',
  language: 'en',
  body: z.object({
    file_name: SingleLine.min(1).max(255).optional(),
    dataset_name: SingleLine.max(200).nullable().optional(),
    organ_type: SingleLine.max(200).nullable().optional(),
    calibration: EnteredScale.nullable()
      .optional()
      .meta({ description: 'Scale in place of that of the file; null takes it back' }),
    /** Hides the image from everyone except administrators. */
    hidden: z.boolean().optional(),
    /** False restores a removed entry. */
    removed: z.literal(false).optional(),
  }),
  response: z.object({ image: Image }),
  status: 200,
  errors: ['not_found'],
});

export const deleteImage = endpoint({
  method: 'DELETE',
  path: '/image-catalog/images/:imageId',
  summary: 'Remove an entry from the catalogue; the slide file stays',
  access: 'catalogue.write',
  language: 'en',
  response: null,
  status: 204,
  errors: ['not_found'],
});

const pixelErrors = ['not_found', 'slide_corrupt', 'unavailable', 'storage_timeout'] as const;

export const getDescriptor = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/image.dzi',
  summary: 'Deep Zoom descriptor: tile size, overlap, format, width, height, colour profile',
  access: 'image-session',
  scope: 'slides:read',
  visitors: true,
  language: 'en',
  response: 'application/xml',
  status: 200,
  errors: pixelErrors,
});

/**
 * The samples of sRGB for each node of a cubic grid of the slide's colours, 8 bits each: red varies fastest, then green,
 * then blue. The descriptor says how many nodes a side has.
 */
export const getColourTable = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/colour-table',
  summary: 'Colour table of a slide with a colour profile',
  access: 'image-session',
  scope: 'slides:read',
  visitors: true,
  language: 'en',
  response: 'application/octet-stream',
  status: 200,
  errors: pixelErrors,
});

/** `srgb`: converted by the colour table where the slide has one; else as scanned. */
const colour = z.object({ colour: z.enum(['srgb']).optional() });

export const getThumbnail = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/thumbnail.jpg',
  summary: 'The whole slide in sRGB, at most 256 pixels a side',
  access: 'image-session',
  scope: 'slides:read',
  visitors: true,
  language: 'en',
  response: 'image/jpeg',
  status: 200,
  errors: pixelErrors,
});

/** `tile` is `{column}_{row}.{format}`; `dziLevel` 0 is one pixel. */
export const getTile = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/image_files/:dziLevel/:tile',
  summary: 'One Deep Zoom tile',
  access: 'image-session',
  scope: 'slides:read',
  visitors: true,
  language: 'en',
  query: colour,
  response: 'image/jpeg',
  status: 200,
  errors: pixelErrors,
});
