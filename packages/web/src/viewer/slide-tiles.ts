/**
 * The tile source that a view gives to OpenSeadragon for each slide. It states the levels and tiles of the slide, and loads the tiles
 * through the renderer, which decodes and caches them.
 */
import OpenSeadragon from 'openseadragon';
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { canRetry, PixelError } from './pixels.ts';
import { pictureType, type Renderer } from './renderer/renderer.ts';

/** Position of a tile in the Deep Zoom pyramid, and the format in which the viewer requests it. */
export interface TileCoordinates {
  /** Deep Zoom level: 0 is the whole slide as one pixel. */
  readonly level: number;
  readonly column: number;
  readonly row: number;
  /** File extension, e.g. `jpeg`. */
  readonly format: string;
}

/** Loads the tiles of one slide. */
export interface TileSupply {
  /**
   * Returns the URL of a tile without the image session (the credential for loading pixels). The URL is also the cache
   * key of the tile, so a renewed session must not change the URL.
   */
  urlOf(tile: TileCoordinates): string;
  /**
   * Loads a tile. When the promise rejects, the view draws without the tile; a `PixelError` says whether a retry can succeed.
   *
   * @param url the result of `urlOf`
   */
  load(url: string): Promise<Blob>;
  /** Aborted when the slide is closed, which also aborts the requests of `load`. */
  readonly signal: AbortSignal;
}

/** OpenSeadragon's description of one slide: the size of its levels and tiles, and how to load a tile. */
export class SlideTiles extends OpenSeadragon.TileSource {
  readonly #format: string;
  readonly #supply: TileSupply;
  readonly #renderer: Renderer;
  readonly #onTileFailed: (tile: OpenSeadragon.Tile, isPermanent: boolean) => void;

  /** @param onTileFailed called for each failed tile; `isPermanent` says that a retry would fail, too */
  constructor(
    descriptor: DeepZoomDescriptor,
    supply: TileSupply,
    renderer: Renderer,
    onTileFailed: (tile: OpenSeadragon.Tile, isPermanent: boolean) => void,
  ) {
    const maxLevel = maxLevelOf(descriptor);
    super({
      width: descriptor.width,
      height: descriptor.height,
      tileSize: descriptor.tileSize,
      tileOverlap: descriptor.overlap,
      minLevel: minLevelOf(descriptor.tileSize, maxLevel),
      maxLevel,
    });
    this.#format = descriptor.format;
    this.#supply = supply;
    this.#renderer = renderer;
    this.#onTileFailed = onTileFailed;
  }

  override getTileUrl(level: number, column: number, row: number): string {
    return this.#supply.urlOf({ level, column, row, format: this.#format });
  }

  override hasTransparency(): boolean {
    return this.#format === 'png';
  }

  override downloadTileStart(job: OpenSeadragon.ImageJob): void {
    const { level, x: column, y: row } = job.tile;
    this.#renderer
      .loadTile(job.src, { level, column, row }, () => this.#supply.load(job.src))
      .then(
        // `null`, here and below: no XMLHttpRequest. `pictureType` names the kind of data for OpenSeadragon's cache.
        (picture) => job.finish(picture, null, pictureType),
        (error: unknown) => {
          // OpenSeadragon has already ended a job that exceeded its time limit.
          const isEnded = job.jobId === null;
          if (this.#supply.signal.aborted) {
            // The slide is closed: an empty tile ends the job without the console message that `fail` would cause.
            if (!isEnded) job.finish({}, null, pictureType);
            return;
          }
          if (!isEnded) job.fail(String(error), null);
          this.#onTileFailed(job.tile, isPermanentFailure(error));
        },
      );
  }

  /** Does nothing: OpenSeadragon drops jobs that have not started, and `TileSupply.signal` aborts running jobs. */
  override downloadTileAbort(): void {}
}

/** Returns whether a retry would fail, too: the server lacks the tile or cannot read it, or the browser cannot decode its bytes. */
function isPermanentFailure(error: unknown): boolean {
  if (error instanceof PixelError) return !canRetry(error.failure);
  return error instanceof DOMException && error.name === 'InvalidStateError'; // `createImageBitmap` rejected the bytes
}
