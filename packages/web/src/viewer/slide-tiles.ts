/** The tiles of one slide as OpenSeadragon's tile source. */
import OpenSeadragon from 'openseadragon';
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { canRetry, PixelError } from './pixels.ts';
import { pictureType, type Renderer } from './renderer/renderer.ts';

export interface TileAddress {
  /** Deep Zoom level: 0 is one pixel. */
  readonly level: number;
  readonly column: number;
  readonly row: number;
  readonly format: string;
}

export interface TileSupply {
  /** Without the image session: it is the cache key of the tile, which a renewed session does not change. */
  addressOf(tile: TileAddress): string;
  /** A rejection omits the tile: permanently when a PixelError says that a retry cannot succeed. */
  load(address: string): Promise<Blob>;
  /** Aborted when the slide is closed. */
  readonly signal: AbortSignal;
}

/** OpenSeadragon's tile source of one slide. */
export class SlideTiles extends OpenSeadragon.TileSource {
  readonly #format: string;
  readonly #supply: TileSupply;
  readonly #renderer: Renderer;
  readonly #onLost: (tile: OpenSeadragon.Tile, isForGood: boolean) => void;

  /** @param onLost called for each failed tile; `isForGood` when a retry would fail, too */
  constructor(
    descriptor: DeepZoomDescriptor,
    supply: TileSupply,
    renderer: Renderer,
    onLost: (tile: OpenSeadragon.Tile, isForGood: boolean) => void,
  ) {
    const maxLevel = maxLevelOf(descriptor);
    super({
      width: descriptor.width,
      height: descriptor.height,
      tileSize: descriptor.tileSize,
      tileOverlap: descriptor.overlap,
      minLevel: minLevelOf(descriptor, maxLevel),
      maxLevel,
    });
    this.#format = descriptor.format;
    this.#supply = supply;
    this.#renderer = renderer;
    this.#onLost = onLost;
  }

  override getTileUrl(level: number, column: number, row: number): string {
    return this.#supply.addressOf({ level, column, row, format: this.#format });
  }

  override hasTransparency(): boolean {
    return this.#format === 'png';
  }

  override downloadTileStart(job: OpenSeadragon.ImageJob): void {
    const { level, x: column, y: row } = job.tile;
    this.#renderer
      .open(job.src, { level, column, row }, () => this.#supply.load(job.src))
      .then(
        (picture) => job.finish(picture, null, pictureType),
        (error: unknown) => {
          const isCounted = job.jobId === null; // OpenSeadragon's time limit was faster
          if (this.#supply.signal.aborted) {
            // A closed slide is not drawn. A failure would be logged to the console.
            if (!isCounted) job.finish({}, null, pictureType);
            return;
          }
          if (!isCounted) job.fail(String(error), null);
          this.#onLost(job.tile, isLostForGood(error));
        },
      );
  }

  /** Aborts only jobs that have not started; the signal of the supply ends the others. */
  override downloadTileAbort(): void {}
}

/** Whether a retry would fail, too: the server does not have the tile, or its bytes are no image. */
function isLostForGood(error: unknown): boolean {
  if (error instanceof PixelError) return !canRetry(error.failure);
  return error instanceof DOMException && error.name === 'InvalidStateError';
}
