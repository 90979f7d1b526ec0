/** Endpoints for the catalogue and the pixels of its slides. “Image” means a catalogue entry, and “slide” the opened file. */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';
import { ComparedName, Cursor, SearchText, SingleLine } from './text.ts';

/** `pending`: the server has not read the slide file yet; `failed`: it could not read the file. */
export const ImageStatus = z.enum(['pending', 'ready', 'failed']);
export type ImageStatus = z.infer<typeof ImageStatus>;

const sideInPixels = z
  .number()
  .int()
  .nullable()
  .meta({ description: 'Pixels at full resolution; null until read' });
const micrometresPerPixel = z.number().nullable().meta({
  description: 'µm per pixel; null when the file states neither the pixel size nor the magnification',
});

export const Image = z
  .object({
    id: z.uuid(),
    file_name: z.string(),
    dataset_name: z.string().nullable(),
    organ_type: z.string().nullable(),
    width: sideInPixels,
    height: sideInPixels,
    mpp_x: micrometresPerPixel,
    mpp_y: micrometresPerPixel,
    objective_power: z.number().nullable().meta({ description: 'Magnification of the scan, e.g. 20 or 40' }),
    mpp_derived: z
      .boolean()
      .meta({ description: 'mpp_x and mpp_y are estimated from objective_power: not a calibration' }),
    objective_power_derived: z.boolean().meta({
      description:
        'objective_power is derived from mpp_x and mpp_y: the objective with the nearest pixel size',
    }),
    scale_entered: z
      .literal(true)
      .optional()
      .meta({ description: 'An administrator entered the scale, which replaces the scale of the file' }),
    shown_plane: z
      .object({
        plane: z.number().int().meta({ description: 'Number of the plane, from 1' }),
        planes: z.number().int().meta({ description: 'Number of planes in the file' }),
        times: z.number().int().meta({ description: 'Time points, of which the first is shown' }),
      })
      .optional()
      .meta({ description: 'The focal plane that is shown, if the file has several planes or time points' }),
    vendor: z.string().nullable(),
    format: z.string().nullable(),
    size_bytes: z.number().int(),
    status: ImageStatus,
    error: z.string().nullable().meta({ description: 'Why the file could not be read; for administrators' }),
    error_code: z.string().optional().meta({ description: 'Code of the error, such as `FILE_TRUNCATED`' }),
    hidden: z.boolean().meta({ description: 'Only administrators see the image' }),
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

/**
 * Query with an optional image session (the credential for loading pixels), which must be valid and belong to the caller. Where visitors
 * are allowed, the session of a share link replaces the bearer token.
 */
export const optionalSessionQuery = z.object({ session: z.string().optional() });

export const listImages = endpoint({
  method: 'GET',
  path: '/image-catalog/images',
  summary: 'Entries of the catalogue; without a limit all of them',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery.extend({
    q: SearchText.optional().meta({
      description: 'Words in file name, id, organ or dataset; case and diacritics do not count',
    }),
    dataset: ComparedName.max(255).optional(), // the name of a folder may be that long
    organ: ComparedName.max(200).optional(),
    limit: z.coerce.number().int().min(1).max(500).optional(),
    cursor: Cursor.max(500).optional(),
  }),
  response: z.object({
    images: z.array(Image),
    next_cursor: z.string().nullable(),
    message: z.string().optional().meta({ description: 'Text when there are no images' }),
  }),
  hasEtag: true,
  status: 200,
  errors: ['session_invalid'],
});

export const getImage = endpoint({
  method: 'GET',
  path: '/image-catalog/images/:imageId',
  summary: 'One catalogue entry',
  access: 'catalogue.read',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
  query: optionalSessionQuery,
  response: z.object({ image: Image }),
  status: 200,
  errors: ['session_invalid', 'not_found'],
});

export const updateImage = endpoint({
  method: 'PUT',
  path: '/image-catalog/images/:imageId',
  summary: 'Edit an entry of the catalogue',
  access: 'catalogue.write',
  defaultMessageLanguage: 'tr',
  body: z.object({
    file_name: SingleLine.min(1).max(255).optional(),
    dataset_name: SingleLine.max(200).nullable().optional(),
    organ_type: SingleLine.max(200).nullable().optional(),
    calibration: EnteredScale.nullable().optional().meta({
      description: 'Scale that replaces the scale of the file; null: use the scale of the file again',
    }),
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
  defaultMessageLanguage: 'en',
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
  apiTokenScope: 'slides:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  response: 'application/xml',
  hasEtag: true,
  status: 200,
  errors: pixelErrors,
});

/**
 * The response contains an sRGB colour, 8 bits per channel, for each node of a cubic grid of the slide's colours. Red varies fastest,
 * then green, then blue. The descriptor states the number of nodes on each side of the grid.
 */
export const getColourTable = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/colour-table',
  summary: 'Colour table of a slide with a colour profile',
  access: 'image-session',
  apiTokenScope: 'slides:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  response: 'application/octet-stream',
  hasEtag: true,
  status: 200,
  errors: pixelErrors,
});

/** `srgb`: colours are converted by the colour table, if the slide has one; default: colours as scanned. */
const colourQuery = z.object({ colour: z.enum(['srgb']).optional() });

export const getThumbnail = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/thumbnail.jpg',
  summary: 'The whole slide in sRGB, at most 256 pixels a side',
  access: 'image-session',
  apiTokenScope: 'slides:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  response: 'image/jpeg',
  hasEtag: true,
  status: 200,
  errors: pixelErrors,
});

/** `tile` is `{column}_{row}.{format}`. Level 0 (`dziLevel`) is one pixel; larger numbers are larger images. */
export const getTile = endpoint({
  method: 'GET',
  path: '/image-catalog/proxy/:imageId/image_files/:dziLevel/:tile',
  summary: 'One Deep Zoom tile',
  access: 'image-session',
  apiTokenScope: 'slides:read',
  allowsVisitors: true,
  defaultMessageLanguage: 'en',
  query: colourQuery,
  response: 'image/jpeg',
  hasEtag: true,
  status: 200,
  errors: pixelErrors,
});
