/**
 * Reads the content of result layers (rasters or objects that analysis programs computed) for viewers: tiles and values of rasters;
 * blocks, counts and single objects of vector layers. Keeps the files of recently used layers open, and raster tiles in memory.
 */
import {
  AppError,
  maxOverlayObjects,
  type OverlayObject,
  overlayTileSize,
  type RasterDescriptor,
  type VectorDescriptor,
} from '@lamina/contract';
import { LRUCache } from 'lru-cache';
import type { Catalogue } from '../catalogue/catalogue.ts';
import { type ImageSession, mayViewImage } from '../domain/image-session.ts';
import type { Database } from '../store/database.ts';
import { findResultLayer, type ResultLayerRow } from '../store/result-layers.ts';
import type { ServableImage } from '../tiles/slides.ts';
import { type Container, openContainer } from './container.ts';
import { openRaster, type RasterReader } from './raster-reader.ts';
import type { ResultFiles } from './result-files.ts';
import type { VectorDescription } from './vector-import.ts';
import { boxFrom, openVector, type VectorReader } from './vector-reader.ts';

export interface Overlays {
  /**
   * Finds a layer of a slide that the image session (the credential for loading pixels) may see. Reads the layer from the database at
   * each call.
   *
   * @throws AppError not_found when there is no such layer, it is not ready, or the session may not view its slide
   */
  find(session: ImageSession, layerId: string): Promise<Overlay>;
  /** Returns the descriptor that a viewer needs before it requests tiles or blocks. */
  describe(overlay: Overlay): Promise<RasterDescriptor | VectorDescriptor>;
  /**
   * Returns a tile of a raster as PNG.
   *
   * @param z level from the URL; 0 is the smallest
   * @param tileName last part of the URL, `<column>_<row>.png`
   * @throws AppError not_found
   */
  tile(overlay: Overlay, z: string, tileName: string): Promise<Uint8Array>;
  /**
   * Returns the value of a raster at a position in pixels of level 0, the full resolution; null where the raster has no data.
   *
   * @throws AppError not_found for a vector layer
   */
  value(overlay: Overlay, x: number, y: number): Promise<number | null>;
  /**
   * Counts the objects of each class, by class name.
   *
   * @param box `x0,y0,x1,y1` in pixels of level 0: counts the objects whose centre the box contains; undefined counts all objects
   * @throws AppError not_found for a raster, invalid_request
   */
  counts(overlay: Overlay, box: string | undefined): Promise<Record<string, number>>;
  /**
   * Returns the object at a position, or the nearest one within the tolerance (both in pixels of level 0); null if there is none.
   *
   * @throws AppError not_found for a raster
   */
  pick(overlay: Overlay, x: number, y: number, tolerance: number): Promise<OverlayObject | null>;
  /** Returns a binary part of a vector layer. @throws AppError not_found for a raster, and when the part does not exist */
  part(overlay: Overlay, part: VectorPart): Promise<OverlayBytes>;
  close(): Promise<void>;
}

/**
 * A binary part of a vector layer. Strings are path segments of the URL that are not checked yet. `first` and `count` select
 * objects by their number in the layer; an undefined `count` selects all objects from `first` on. `column` is the number of a measurement.
 */
export type VectorPart =
  | { readonly kind: 'index' }
  | { readonly kind: 'block'; readonly number: string }
  | { readonly kind: 'density'; readonly level: string; readonly class: string }
  | { readonly kind: 'centers'; readonly first: number; readonly count: number | undefined }
  | {
      readonly kind: 'measurement';
      readonly column: string;
      readonly first: number;
      readonly count: number | undefined;
    };

interface OverlayBytes {
  readonly bytes: Uint8Array;
  /** Whether the bytes are compressed with gzip. */
  readonly isGzip: boolean;
}

/** A ready result layer and its slide, which the session of a request may see. */
export interface Overlay {
  readonly layer: ResultLayerRow;
  readonly image: ServableImage;
}

interface Dependencies {
  readonly db: Database;
  readonly catalogue: Pick<Catalogue, 'servable'>;
  readonly files: ResultFiles;
}

const uuidPattern = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const maxOpenLayers = 100; // number of layers whose files stay open
/** A file that no request has read for this time is closed: if another server process has deleted the file, this frees its disk space. */
const closeUnusedAfterMs = 5 * 60_000;
const tileCacheBytes = 32 * 2 ** 20; // for the raster tiles of all layers together
/** Estimated memory for the key and the entry of a cached tile. */
const tileCacheEntryBytes = 100;

/** A layer whose file is open. After eviction from the cache the file is closed as soon as no read uses it. */
interface OpenLayer {
  readonly container: Container;
  readonly raster: RasterReader | null; // null for a vector layer
  readonly vector: VectorReader | null; // null for a raster layer
  activeReads: number;
  isEvicted: boolean;
}

export function createOverlays({ db, catalogue, files }: Dependencies): Overlays {
  const tiles = new LRUCache<string, Uint8Array>({
    maxSize: tileCacheBytes,
    sizeCalculation: (bytes) => bytes.length + tileCacheEntryBytes,
  });
  const openLayers = new LRUCache<string, Promise<OpenLayer>>({
    max: maxOpenLayers,
    ttl: closeUnusedAfterMs,
    ttlAutopurge: true,
    updateAgeOnGet: true,
    dispose: (opening) => {
      void opening
        .then((layer) => {
          layer.isEvicted = true;
          return closeUnused(layer);
        })
        .catch(() => undefined); // opening failed, so there is no file to close
    },
  });

  files.onRemove((layerId) => openLayers.delete(layerId)); // a deleted file keeps its disk space while it is open

  async function openLayer({ id, kind }: ResultLayerRow): Promise<OpenLayer> {
    const container = await openContainer(files.pathOf(id)).catch((error: NodeJS.ErrnoException) => {
      // After the restore of a backup without uploads and results, the row exists, but the file does not.
      throw error.code === 'ENOENT' ? new AppError('not_found', { cause: error }) : error;
    });
    try {
      return {
        container,
        raster: kind === 'raster' ? openRaster(container) : null,
        vector: kind === 'vector' ? await openVector(container) : null,
        activeReads: 0,
        isEvicted: false,
      };
    } catch (error) {
      await container.close();
      throw error;
    }
  }

  /** Opens a layer, unless it is open, and runs a read, during which the file stays open. */
  async function withLayer<T>(row: ResultLayerRow, read: (layer: OpenLayer) => Promise<T>): Promise<T> {
    let opening = openLayers.get(row.id);
    if (opening === undefined) {
      opening = openLayer(row);
      openLayers.set(row.id, opening);
      opening.catch(() => openLayers.delete(row.id));
    }
    const layer = await opening;
    layer.activeReads++;
    try {
      return await read(layer);
    } finally {
      layer.activeReads--;
      await closeUnused(layer);
    }
  }

  return {
    async find(session, layerId) {
      const layer = uuidPattern.test(layerId) ? await findResultLayer(db, layerId) : null;
      if (layer === null || layer.state !== 'ready') throw new AppError('not_found');
      const image = await catalogue.servable(layer.image_id);
      if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
      return { layer, image };
    },

    describe: ({ layer }) =>
      withLayer(layer, async ({ raster, vector }) => {
        if (vector !== null) return describeVector(layer, vector.description);
        return describeRaster(layer, requireFound(raster));
      }),

    async tile({ layer }, z, tileName) {
      const [, column, row] = /^(\d{1,7})_(\d{1,7})\.png$/.exec(tileName) ?? [];
      if (!/^\d{1,2}$/.test(z) || column === undefined || row === undefined) throw new AppError('not_found');
      const key = [layer.id, z, column, row].join('/');
      const cached = tiles.get(key);
      if (cached !== undefined) return cached;
      const bytes = await withLayer(
        layer,
        async ({ raster }) => raster?.tile(Number(z), Number(column), Number(row)) ?? null, // null for a vector layer
      );
      if (bytes === null) throw new AppError('not_found');
      tiles.set(key, bytes);
      return bytes;
    },

    value: ({ layer }, x, y) => withLayer(layer, async ({ raster }) => requireFound(raster).value(x, y)),

    counts: ({ layer }, box) =>
      withLayer(layer, async ({ vector }) => requireFound(vector).counts(boxFrom(box))),

    pick: ({ layer }, x, y, tolerance) =>
      withLayer(layer, async ({ vector }) => requireFound(vector).pick(x, y, tolerance)),

    part: ({ layer }, part) => withLayer(layer, async ({ vector }) => partOf(requireFound(vector), part)),

    async close() {
      openLayers.clear(); // `dispose` closes the files
    },
  };
}

/** Returns the value. @throws AppError not_found if it is null */
function requireFound<T>(value: T | null): T {
  if (value === null) throw new AppError('not_found');
  return value;
}

/** Parses a path segment as a whole number; NaN for any other text. */
const parseSegment = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN);

async function partOf(vector: VectorReader, part: VectorPart): Promise<OverlayBytes> {
  switch (part.kind) {
    case 'index':
      return { bytes: await vector.index(), isGzip: false };
    case 'block':
      return { bytes: requireFound(await vector.block(parseSegment(part.number))), isGzip: true };
    case 'density': {
      const [level, classNumber] = [parseSegment(part.level), parseSegment(part.class)];
      return { bytes: requireFound(await vector.density(level, classNumber)), isGzip: true };
    }
    case 'centers':
      return { bytes: await vector.centers(part.first, part.count ?? maxOverlayObjects), isGzip: false };
    case 'measurement': {
      const { column, first, count = maxOverlayObjects } = part;
      return {
        bytes: requireFound(await vector.measurement(parseSegment(column), first, count)),
        isGzip: false,
      };
    }
  }
}

/** Closes the file of a layer that was evicted from the cache and is not being read. */
async function closeUnused(layer: OpenLayer): Promise<void> {
  if (!layer.isEvicted || layer.activeReads > 0) return;
  layer.isEvicted = false; // a later call must not close the file again
  await layer.container.close();
}

function describeRaster(
  { id, image_id, name }: ResultLayerRow,
  { description, encoding }: RasterReader,
): RasterDescriptor {
  const { levels, type, range, usualRange, categories, registration } = description;
  const [largest] = levels;
  return {
    kind: 'raster',
    id,
    image_id,
    name,
    width: largest?.width ?? 0,
    height: largest?.height ?? 0,
    tile_size: overlayTileSize,
    // `description.levels` begins with the largest level, the descriptor with the smallest one (z = 0).
    levels: levels
      .map(({ width, height }, n) => ({ z: levels.length - 1 - n, width, height, scale: 2 ** n }))
      .reverse(),
    value_type: type,
    value_range: range,
    usual_range: usualRange ?? null,
    encoding,
    categories:
      categories?.map(({ value, name: category, color }) => ({
        value,
        name: category,
        color: [...color] as [number, number, number],
      })) ?? null,
    registration: [...registration],
  };
}

function describeVector(
  { id, image_id, name }: ResultLayerRow,
  { objects, vertices, bounds, classes, measurements, blocks, largestBlock, density }: VectorDescription,
): VectorDescriptor {
  return {
    kind: 'vector',
    id,
    image_id,
    name,
    object_count: objects,
    vertex_count: vertices,
    bounds: bounds?.map((quarters) => quarters / 4) ?? null,
    classes: classes.map(({ name: className, color, count }) => ({
      name: className,
      color: [...color] as [number, number, number],
      count,
    })),
    measurements: measurements.map((measurement) => ({ ...measurement })),
    blocks: { count: blocks, objects: largestBlock },
    density: density.map(({ cell, width, height, x, y }, level) => ({ level, cell, width, height, x, y })),
  };
}
