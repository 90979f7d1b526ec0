/** The content of result layers that an image session may see. */
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
   * Returns a layer of a slide that the session may see, from the database as it is now.
   *
   * @throws AppError not_found, also for a layer that is not ready
   */
  find(session: ImageSession, layerId: string): Promise<Overlay>;
  describe(overlay: Overlay): Promise<RasterDescriptor | VectorDescriptor>;
  /** @returns a PNG. @throws AppError not_found */
  tile(overlay: Overlay, z: string, tile: string): Promise<Uint8Array>;
  /** @throws AppError not_found for a vector layer */
  value(overlay: Overlay, x: number, y: number): Promise<number | null>;
  /** @throws AppError not_found for a raster, invalid_request */
  counts(overlay: Overlay, box: string | undefined): Promise<Record<string, number>>;
  /** @throws AppError not_found for a raster */
  pick(overlay: Overlay, x: number, y: number, tolerance: number): Promise<OverlayObject | null>;
  /** @throws AppError not_found for a raster, and for a part that it does not have */
  part(overlay: Overlay, part: VectorPart): Promise<OverlayBytes>;
  close(): Promise<void>;
}

/** A binary part of a vector layer, as the endpoints name it. */
export type VectorPart =
  | { readonly of: 'index' }
  | { readonly of: 'block'; readonly number: string }
  | { readonly of: 'density'; readonly level: string; readonly class: string }
  | { readonly of: 'centers'; readonly first: number; readonly count: number | undefined }
  | {
      readonly of: 'measurement';
      readonly column: string;
      readonly first: number;
      readonly count: number | undefined;
    };

interface OverlayBytes {
  readonly bytes: Uint8Array;
  /** Whether the bytes are compressed with gzip. */
  readonly isGzip: boolean;
}

export interface Overlay {
  readonly layer: ResultLayerRow;
  readonly image: ServableImage;
}

interface Dependencies {
  readonly db: Database;
  readonly catalogue: Pick<Catalogue, 'servable'>;
  readonly files: ResultFiles;
}

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/;
const maxOpen = 100;
const tileCacheBytes = 32 * 2 ** 20;

/** An open file, closed when it was evicted and its last read is over. */
interface OpenLayer {
  readonly container: Container;
  readonly raster: RasterReader | null;
  readonly vector: VectorReader | null;
  readers: number;
  isEvicted: boolean;
}

export function createOverlays({ db, catalogue, files }: Dependencies): Overlays {
  const tiles = new LRUCache<string, Uint8Array>({
    maxSize: tileCacheBytes,
    sizeCalculation: (bytes) => bytes.length + 100,
  });
  const open = new LRUCache<string, Promise<OpenLayer>>({
    max: maxOpen,
    dispose: (entry) => {
      void entry
        .then((layer) => {
          layer.isEvicted = true;
          return closeUnused(layer);
        })
        .catch(() => undefined); // it was never open
    },
  });

  async function openLayer({ id, kind }: ResultLayerRow): Promise<OpenLayer> {
    const container = await openContainer(files.pathOf(id)).catch((error: NodeJS.ErrnoException) => {
      // A restore without uploads has the row alone.
      throw error.code === 'ENOENT' ? new AppError('not_found', { cause: error }) : error;
    });
    return {
      container,
      raster: kind === 'raster' ? openRaster(container) : null,
      vector: kind === 'vector' ? await openVector(container) : null,
      readers: 0,
      isEvicted: false,
    };
  }

  /** Runs a read of a layer whose file stays open until it is over. */
  async function reading<T>(row: ResultLayerRow, read: (layer: OpenLayer) => Promise<T>): Promise<T> {
    let entry = open.get(row.id);
    if (entry === undefined) {
      entry = openLayer(row);
      open.set(row.id, entry);
      entry.catch(() => open.delete(row.id));
    }
    const layer = await entry;
    layer.readers++;
    try {
      return await read(layer);
    } finally {
      layer.readers--;
      await closeUnused(layer);
    }
  }

  return {
    async find(session, layerId) {
      const layer = uuid.test(layerId) ? await findResultLayer(db, layerId) : null;
      if (layer === null || layer.state !== 'ready') throw new AppError('not_found');
      const image = await catalogue.servable(layer.image_id);
      if (image === null || !mayViewImage(session, image)) throw new AppError('not_found');
      return { layer, image };
    },

    describe: ({ layer }) =>
      reading(layer, async ({ raster, vector }) => {
        if (vector !== null) return describeVector(layer, vector.description);
        return describeRaster(layer, required(raster));
      }),

    async tile({ layer }, z, tile) {
      const [, column, row] = /^(\d{1,7})_(\d{1,7})\.png$/.exec(tile) ?? [];
      if (!/^\d{1,2}$/.test(z) || column === undefined || row === undefined) throw new AppError('not_found');
      const key = [layer.id, z, column, row].join('/');
      const known = tiles.get(key);
      if (known !== undefined) return known;
      const bytes = await reading(
        layer,
        async ({ raster }) => raster?.tile(Number(z), Number(column), Number(row)) ?? null,
      );
      if (bytes === null) throw new AppError('not_found');
      tiles.set(key, bytes);
      return bytes;
    },

    value: ({ layer }, x, y) => reading(layer, async ({ raster }) => required(raster).value(x, y)),

    counts: ({ layer }, box) => reading(layer, async ({ vector }) => required(vector).counts(boxFrom(box))),

    pick: ({ layer }, x, y, tolerance) =>
      reading(layer, async ({ vector }) => required(vector).pick(x, y, tolerance)),

    part: ({ layer }, part) => reading(layer, async ({ vector }) => partOf(required(vector), part)),

    async close() {
      open.clear();
    },
  };
}

/** @throws AppError not_found */
function required<T>(reader: T | null): T {
  if (reader === null) throw new AppError('not_found');
  return reader;
}

/** Parses a number of a path. */
const numberIn = (text: string) => (/^\d{1,9}$/.test(text) ? Number(text) : Number.NaN);

async function partOf(vector: VectorReader, part: VectorPart): Promise<OverlayBytes> {
  switch (part.of) {
    case 'index':
      return { bytes: await vector.index(), isGzip: false };
    case 'block':
      return { bytes: required(await vector.block(numberIn(part.number))), isGzip: true };
    case 'density': {
      const [level, classNumber] = [numberIn(part.level), numberIn(part.class)];
      return { bytes: required(await vector.density(level, classNumber)), isGzip: true };
    }
    case 'centers':
      return { bytes: await vector.centers(part.first, part.count ?? maxOverlayObjects), isGzip: false };
    case 'measurement': {
      const { column, first, count = maxOverlayObjects } = part;
      return { bytes: required(await vector.measurement(numberIn(column), first, count)), isGzip: false };
    }
  }
}

async function closeUnused(layer: OpenLayer): Promise<void> {
  if (!layer.isEvicted || layer.readers > 0) return;
  layer.isEvicted = false; // closed once
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
