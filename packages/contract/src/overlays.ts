/**
 * Endpoints for the content of result layers (rasters or objects that a program has computed), which the viewer draws
 * over a slide. Like tiles, they need an image session. Coordinates are pixels at the slide's full resolution unless a
 * description states otherwise. Binary numbers are little-endian.
 */
import { z } from 'zod';
import { endpoint } from './endpoint.ts';

/** Maximum number of objects in one request for centres or measurements. */
export const maxOverlayObjects = 2_000_000;

const Color = z.tuple([
  z.number().int().min(0).max(255),
  z.number().int().min(0).max(255),
  z.number().int().min(0).max(255),
]);
const count = z.number().int().min(0);
const Range = z.object({ min: z.number(), max: z.number() });
const Matrix = z
  .array(z.number())
  .length(6)
  .meta({ description: 'a, b, c, d, e, f: x’ = a x + c y + e, y’ = b x + d y + f' });

/** How bytes of tiles encode values: `value = offset + scale × byte`, except for the byte `no_data`. */
const Encoding = z.object({
  scale: z.number(),
  offset: z.number(),
  no_data: z
    .number()
    .int()
    .nullable()
    .meta({ description: 'Byte of pixels without data; null: there are none' }),
});

export const RasterDescriptor = z
  .object({
    kind: z.literal('raster'),
    id: z.string(),
    image_id: z.string(),
    name: z.string(),
    width: count,
    height: count,
    tile_size: count,
    levels: z.array(z.object({ z: count, width: count, height: count, scale: z.number() })).meta({
      description: '`z` 0 is the smallest level; `scale`: pixels of the raster per pixel of the level',
    }),
    value_type: z.enum(['uint8', 'uint16', 'float32', 'float64']),
    value_range: Range.nullable().meta({ description: 'Range of the values; null: no pixel has data' }),
    usual_range: Range.nullable().meta({
      description:
        'From the 1st to the 99th percentile of the values above the lowest one, as the initial colour range; null: unknown, or these values are equal',
    }),
    encoding: Encoding,
    categories: z
      .array(z.object({ value: z.number(), name: z.string(), color: Color }))
      .nullable()
      .meta({
        description: 'Categories of a mask, in which 0 is the background; null: values are continuous',
      }),
    registration: Matrix.meta({ description: 'Transform from pixels of the raster to pixels of the slide' }),
  })
  .meta({ id: 'RasterDescriptor' });
export type RasterDescriptor = z.infer<typeof RasterDescriptor>;

export const VectorDescriptor = z
  .object({
    kind: z.literal('vector'),
    id: z.string(),
    image_id: z.string(),
    name: z.string(),
    object_count: count,
    vertex_count: count,
    bounds: z
      .array(z.number())
      .length(4)
      .nullable()
      .meta({ description: 'x0, y0, x1, y1 of all outlines; null: no objects' }),
    classes: z.array(z.object({ name: z.string(), color: Color, count })).meta({
      description:
        'Classes in the order of their class bytes; objects without a class have the class `Unclassified`',
    }),
    measurements: z
      .array(z.object({ name: z.string(), min: z.number().nullable(), max: z.number().nullable(), count }))
      .meta({
        description: 'Measurements in the order of their columns, with range and number of the finite values',
      }),
    blocks: z.object({
      count,
      objects: count.meta({ description: 'Number of objects in the largest block' }),
    }),
    density: z
      .array(
        z.object({
          level: count,
          cell: z.number().meta({ description: 'Side of a cell' }),
          width: count,
          height: count,
          x: z.number(),
          y: z.number(),
        }),
      )
      .meta({ description: 'Grids of object counts, the finest first; x, y: upper left corner' }),
  })
  .meta({ id: 'VectorDescriptor' });
export type VectorDescriptor = z.infer<typeof VectorDescriptor>;

const common = {
  access: 'image-session',
  apiTokenScope: 'slides:read',
  defaultMessageLanguage: 'en',
} as const;
const binary = {
  ...common,
  method: 'GET',
  hasEtag: true,
  response: 'application/octet-stream',
  status: 200,
  errors: [],
} as const;

export const getOverlayDescriptor = endpoint({
  ...common,
  method: 'GET',
  path: '/image-catalog/overlays/:layerId/descriptor',
  summary: 'Describe the content of a result layer',
  response: z.discriminatedUnion('kind', [RasterDescriptor, VectorDescriptor]),
  status: 200,
  errors: [],
});

/** `tile` is `{column}_{row}.png`. A tile has 8 bits per pixel, one channel, and at most 256 pixels on each side. */
export const getOverlayTile = endpoint({
  ...common,
  method: 'GET',
  path: '/image-catalog/overlays/:layerId/tiles/:z/:tile',
  summary: 'One lossless tile of values; the descriptor states how bytes encode values',
  response: 'image/png',
  hasEtag: true,
  status: 200,
  errors: [],
});

const position = z.coerce.number().min(-1e9).max(1e9);

export const getOverlayValue = endpoint({
  ...common,
  method: 'GET',
  path: '/image-catalog/overlays/:layerId/value',
  summary: 'The exact value of a raster at a position of the slide; null: no data',
  query: z.object({ x: position, y: position }),
  response: z.object({ value: z.number().nullable() }),
  status: 200,
  errors: [],
});

export const countOverlayObjects = endpoint({
  ...common,
  method: 'GET',
  path: '/image-catalog/overlays/:layerId/counts',
  summary: 'Number of objects of each class whose centre is in a rectangle, or in the whole layer',
  query: z.object({
    bbox: z
      .string()
      .max(200)
      .regex(/^-?\d+(?:\.\d+)?(?:,-?\d+(?:\.\d+)?){3}$/)
      .optional()
      .meta({ description: 'Rectangle x0,y0,x1,y1, including its edges' }),
  }),
  response: z.object({ classes: z.record(z.string(), count) }),
  status: 200,
  errors: [],
});

export const OverlayObject = z
  .object({
    number: count.meta({ description: 'Position of the object in the layer' }),
    id: z.string().nullable().meta({ description: 'Id in the imported file' }),
    class: z.object({ name: z.string(), color: Color }),
    center: z.tuple([z.number(), z.number()]),
    rings: z
      .array(z.array(z.tuple([z.number(), z.number()])))
      .meta({ description: 'Outline, rounded to quarters of a pixel; empty for a point' }),
    measurements: z.record(z.string(), z.number()),
  })
  .meta({ id: 'OverlayObject' });
export type OverlayObject = z.infer<typeof OverlayObject>;

export const pickOverlayObject = endpoint({
  ...common,
  method: 'GET',
  path: '/image-catalog/overlays/:layerId/pick',
  summary: 'The smallest object at a position, or the nearest one within a tolerance',
  query: z.object({ x: position, y: position, tolerance: z.coerce.number().min(0).max(10_000).default(0) }),
  response: z.object({ object: OverlayObject.nullable() }),
  status: 200,
  errors: [],
});

/**
 * A block contains consecutive objects. The response has 28 bytes for each block: the bounds of its outlines as Int32 x0, y0, x1, y1
 * in quarters of a pixel; Uint32 number of its first object; Uint32 number of objects; Uint32 size of the stored block in bytes.
 */
export const getOverlayIndex = endpoint({
  ...binary,
  path: '/image-catalog/overlays/:layerId/index',
  summary: 'Bounds and objects of all blocks',
});

/**
 * The response contains, in this order (a number in brackets is a number of elements): Uint32 magic number 0x3142524C
 * ("LRB1"), Uint32 first object, Uint32 objects n, Uint32 rings r, Uint32 vertices v, Int32 origin x, Int32 origin y
 * (quarters of a pixel), Uint32 0 (reserved); Int32 centres x [n]; Int32 centres y [n] (quarters of a pixel, relative
 * to the origin); Uint32 vertices per ring [r]; Int16 deltas x, y [2 v]; Uint16 rings per object [n]; Uint8 class [n].
 * The first vertex of a ring is relative to the centre of its object, and each further vertex to the previous one. The
 * last vertex of a closed ring is not repeated. Objects without rings are points.
 */
export const getOverlayBlock = endpoint({
  ...binary,
  path: '/image-catalog/overlays/:layerId/blocks/:block',
  summary: 'The outlines of one block of objects',
});

const objectRange = z.object({
  first: z.coerce.number().int().min(0).default(0),
  count: z.coerce.number().int().min(1).max(maxOverlayObjects).optional(),
});

/** The response contains, for n objects: Float32 x [n], Float32 y [n], Uint8 class [n]. */
export const getOverlayCenters = endpoint({
  ...binary,
  path: '/image-catalog/overlays/:layerId/centers',
  summary: 'Centres and classes of consecutive objects',
  query: objectRange,
});

/** The response contains Float32 [n] for n objects. NaN means that an object does not have the measurement. */
export const getOverlayMeasurement = endpoint({
  ...binary,
  path: '/image-catalog/overlays/:layerId/measurements/:column',
  summary: 'One measurement of consecutive objects',
  query: objectRange,
});

/** The response contains, for each cell, row by row, the number of objects of the class whose centre is in it: Uint32 [width × height]. */
export const getOverlayDensity = endpoint({
  ...binary,
  path: '/image-catalog/overlays/:layerId/density/:level/:class',
  summary: 'Counts of one class in the cells of a grid',
});
