/**
 * The renderer of one view holds the decoded tiles ("pictures") and their colours. OpenSeadragon calls a drawer for
 * each frame. The drawer draws the tiles: `WebGlDrawer` on computers with a graphics card, `CanvasDrawer` on other
 * computers.
 */
import { asScanned } from '../colours/adjustment.ts';
import { type TilePicture, TilePictures, type TilePlace } from './tile-pictures.ts';
import type { DrawnColours } from './webgl-painter.ts';

/** Name of the data type that tiles have in OpenSeadragon's cache; OpenSeadragon cannot convert it to other types. */
export const pictureType = 'tile-picture';

/** The function with which a drawer prepares a decoded tile for drawing: `WebGlDrawer` uploads the tile to graphics memory. */
type TilePreparation = (picture: TilePicture) => Promise<void>;

export class Renderer {
  /** The decoded tiles. */
  readonly pictures = new TilePictures();
  /** Context of `WebGlDrawer`; null when the view is drawn without WebGL. */
  readonly context: WebGL2RenderingContext | null;
  /** Whether a setting in the browser's local storage has chosen the drawer; the view then keeps it even if it is slow. */
  readonly isForced: boolean;
  /** Running loads by URL. The slide, its navigator (small overview) and the prefetch may request the same tile. */
  readonly #runningLoads = new Map<string, Promise<TilePicture>>();
  #colours: DrawnColours = { adjustment: asScanned, table: null };
  #onColours: (colours: DrawnColours) => void = () => {};
  #prepare: TilePreparation = () => Promise.resolve();
  #redraw = () => {};

  /**
   * @param context WebGL context of the canvas on which the view is drawn; null without WebGL
   * @param isForced whether a setting in the browser's local storage has chosen the drawer
   */
  constructor(context: WebGL2RenderingContext | null, isForced: boolean) {
    this.context = context;
    this.isForced = isForced;
  }

  get colours(): DrawnColours {
    return this.#colours;
  }

  /** Called by the drawer of the view, to register its functions. */
  connect(drawer: {
    /** Absent for a drawer that draws decoded tiles without further preparation. */
    readonly prepare?: TilePreparation;
    readonly onColours?: (colours: DrawnColours) => void;
    readonly redraw: () => void;
  }): void {
    this.#prepare = drawer.prepare ?? (() => Promise.resolve());
    this.#onColours = drawer.onColours ?? (() => {});
    this.#redraw = drawer.redraw;
  }

  /**
   * Returns a tile that is ready to be drawn. A tile whose pixels are still in memory is not loaded again; concurrent calls for
   * one tile share one load.
   *
   * @param load returns the compressed tile
   * @throws the error of `load`; a DOMException when the bytes are not an image
   */
  async loadTile(url: string, place: TilePlace, load: () => Promise<Blob>): Promise<TilePicture> {
    const picture = this.pictures.get(url) ?? (await this.#loadOnce(url, place, load));
    await this.#prepare(picture);
    return picture;
  }

  #loadOnce(url: string, place: TilePlace, load: () => Promise<Blob>): Promise<TilePicture> {
    const currentLoad = this.#runningLoads.get(url);
    // If the running load fails, its caller may have aborted it, so this call loads the tile itself.
    if (currentLoad !== undefined) return currentLoad.catch(() => this.#loadOnce(url, place, load));
    const newLoad = load()
      .then((blob) => this.pictures.add(url, place, blob))
      .finally(() => this.#runningLoads.delete(url));
    this.#runningLoads.set(url, newLoad);
    return newLoad;
  }

  /** Decodes a tile again after its pixels were freed, or after the colour table has changed. Never rejects. */
  async restore(picture: TilePicture): Promise<void> {
    if (!this.pictures.isCurrent(picture)) await this.pictures.restore(picture);
    if (picture.bitmap !== null) await this.#prepare(picture);
  }

  setColours(colours: DrawnColours): void {
    this.#colours = colours;
    this.#onColours(colours);
    this.#redraw();
  }

  destroy(): void {
    this.connect({ redraw: () => {} }); // removes the functions of the drawer
    this.pictures.destroy();
  }
}

/** The options with which OpenSeadragon passes the renderer to its drawers. */
export interface RendererOptions {
  readonly renderer: Renderer;
}
