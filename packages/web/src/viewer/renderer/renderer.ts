/**
 * The renderer of one view: its tiles in memory, its colours, and what is drawn over the slide. Two drawers of OpenSeadragon
 * draw with it: `WebGlDrawer` where there is a graphics card, else `CanvasDrawer`.
 */
import { asScanned } from '../colours/adjustment.ts';
import type { Layer } from './layers.ts';
import { type TilePicture, TilePictures, type TilePlace } from './tile-pictures.ts';
import type { DrawnColours } from './webgl-painter.ts';

/** Name of the data that tiles have in OpenSeadragon's cache; there is no conversion from or to it. */
export const pictureType = 'tile-picture';

/** Prepares a decoded tile for drawing. */
type Prepare = (picture: TilePicture) => Promise<void>;

export class Renderer {
  readonly pictures = new TilePictures();
  readonly layers = new Set<Layer>();
  /** Set for the drawer with WebGL. */
  readonly context: WebGL2RenderingContext | null;
  /** Whether the drawer was chosen by a setting, and is kept however slow it is. */
  readonly isForced: boolean;
  /** Tiles that are being loaded and decoded: the slide, its navigator and the prefetch ask for the same ones. */
  readonly #opening = new Map<string, Promise<TilePicture>>();
  #colours: DrawnColours = { adjustment: asScanned, table: null };
  #onColours: (colours: DrawnColours) => void = () => {};
  #prepare: Prepare = () => Promise.resolve();
  #redraw = () => {};

  /** @param context of the canvas that the view is drawn on; null: without WebGL */
  constructor(context: WebGL2RenderingContext | null, isForced: boolean) {
    this.context = context;
    this.isForced = isForced;
  }

  get colours(): DrawnColours {
    return this.#colours;
  }

  /** Set by the drawer in use. */
  connect(parts: {
    readonly prepare?: Prepare;
    readonly onColours?: (colours: DrawnColours) => void;
    readonly redraw: () => void;
  }): void {
    this.#prepare = parts.prepare ?? (() => Promise.resolve());
    this.#onColours = parts.onColours ?? (() => {});
    this.#redraw = parts.redraw;
  }

  /**
   * Returns a tile that is ready to be drawn. A tile whose pixels are still in memory is not loaded again; concurrent calls for
   * one tile share one load.
   *
   * @param load returns the compressed tile
   * @throws what `load` throws; a DOMException when the bytes are no image
   */
  async open(address: string, place: TilePlace, load: () => Promise<Blob>): Promise<TilePicture> {
    const picture = this.pictures.at(address) ?? (await this.#loadOnce(address, place, load));
    await this.#prepare(picture);
    return picture;
  }

  #loadOnce(address: string, place: TilePlace, load: () => Promise<Blob>): Promise<TilePicture> {
    const present = this.#opening.get(address);
    // It may have been aborted for a reason that is not that of this call.
    if (present !== undefined) return present.catch(() => this.#loadOnce(address, place, load));
    const opening = load()
      .then((blob) => this.pictures.add(address, place, blob))
      .finally(() => this.#opening.delete(address));
    this.#opening.set(address, opening);
    return opening;
  }

  /** Decodes a tile again whose pixels were freed, or have the colours of another table. Never rejects. */
  async restore(picture: TilePicture): Promise<void> {
    if (!this.pictures.isCurrent(picture)) await this.pictures.restore(picture);
    if (picture.bitmap !== null) await this.#prepare(picture);
  }

  setColours(colours: DrawnColours): void {
    this.#colours = colours;
    this.#onColours(colours);
    this.#redraw();
  }

  /** @returns a function that removes the layer */
  addLayer(layer: Layer): () => void {
    this.layers.add(layer);
    this.#redraw();
    return () => {
      this.layers.delete(layer);
      this.#redraw();
    };
  }

  /** Draws the next frame even when the view does not move. */
  redraw(): void {
    this.#redraw();
  }

  destroy(): void {
    this.connect({ redraw: () => {} });
    this.pictures.destroy();
  }
}

/** The options under which OpenSeadragon hands the renderer to its drawers. */
export interface RendererOptions {
  readonly renderer: Renderer;
}
