/**
 * The decoded tiles ("pictures") of a view: an LRU cache with a limit in bytes.
 *
 * OpenSeadragon limits its cache by the number of tiles. When the decoded pixels (an ImageBitmap or a texture of the graphics
 * card) exceed the limit in bytes, this class frees the pixels of the tiles that were drawn least recently. The compressed bytes
 * stay in OpenSeadragon's cache, so that a tile that becomes visible again must be decoded again, but not loaded again.
 */

import type { ColourTable } from '../colours/colour-table.ts';
import { CorrectingDecoder } from './correcting-decoder.ts';
import { limitOfView, registerView } from './picture-limit.ts';

/** Position of a tile in the image pyramid of its slide. */
export interface TilePlace {
  /** Deep Zoom level: 0 is one pixel. */
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** A tile of the slide with its decoded pixels, as long as they are in memory. */
export interface TilePicture {
  /** URL without the image session (the credential for loading pixels); it identifies the tile. */
  readonly url: string;
  readonly place: TilePlace;
  /** The compressed tile. */
  readonly blob: Blob;
  /** Size of the tile in pixels. */
  readonly width: number;
  readonly height: number;
  /** Decoded pixels in main memory; null after eviction and, unless the picture is pinned, after the upload. */
  bitmap: ImageBitmap | null;
  /** The colour table by which the bitmap was corrected; null when the bitmap has the colours as stored. */
  table: ColourTable | null;
  /** Decoded pixels in graphics memory; null before the upload, after eviction, and when the context was lost. */
  texture: WebGLTexture | null;
  /** Number of the frame in which the picture was last drawn or decoded. */
  lastUse: number;
  /** Promise that settles when the picture is decoded again, and never rejects; null while no decoding is running. */
  restoring: Promise<void> | null;
  /** Whether the navigator (small overview) uses the picture, which then keeps its bitmap and is not evicted. */
  isPinned: boolean;
}

type TextureDeletion = (texture: WebGLTexture) => void;

const bytesPerPixel = 4; // red, green, blue and alpha

/** The pictures of one view. */
export class TilePictures {
  readonly #pictures = new Map<string, TilePicture>();
  readonly #decoder = new CorrectingDecoder();
  #table: ColourTable | null = null;
  #deleteTexture: TextureDeletion = () => {};
  #bytes = 0;
  /** Number of the current frame. */
  #frame = 0;
  #isClosed = false;
  readonly #unregisterView = registerView();

  /** Bytes of decoded pixels in main and graphics memory; a picture that is in both counts once. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets the function that deletes textures. The drawer provides it, because only the drawer has the graphics context. */
  setTextureDeletion(deleteTexture: TextureDeletion): void {
    this.#deleteTexture = deleteTexture;
  }

  /**
   * Sets the colour table for tiles that are decoded from now on. Bitmaps that were decoded before keep their colours until
   * `restore` is called.
   *
   * @param table null leaves the colours as stored
   */
  setColourTable(table: ColourTable | null): void {
    this.#table = table;
  }

  /** The colour table for bitmaps; null when they have the colours as stored. */
  get table(): ColourTable | null {
    return this.#table;
  }

  /** Returns whether the bitmap of a picture is in memory and has the colours of the current table. */
  isCurrent({ bitmap, table }: TilePicture): boolean {
    return bitmap !== null && table === this.#table;
  }

  /** Begins a frame. Pictures that are drawn in the current frame are not evicted. */
  beginFrame(): void {
    this.#frame += 1;
  }

  /**
   * Decodes a tile and stores it under its URL.
   *
   * @throws DOMException when the bytes are not an image
   */
  async add(url: string, place: TilePlace, blob: Blob): Promise<TilePicture> {
    const table = this.#table;
    const bitmap = await this.#decoder.decode(blob, table);
    const { width, height } = bitmap;
    const picture: TilePicture = {
      url,
      place,
      blob,
      width,
      height,
      bitmap,
      table,
      texture: null,
      lastUse: this.#frame,
      restoring: null,
      isPinned: false,
    };
    this.#store(picture);
    return picture;
  }

  /** Decodes a tile again after its bitmap was freed, or after the colour table has changed. Never rejects. */
  restore(picture: TilePicture): Promise<void> {
    picture.restoring ??= this.#decodeAgain(picture).finally(() => {
      picture.restoring = null;
    });
    return picture.restoring;
  }

  async #decodeAgain(picture: TilePicture): Promise<void> {
    const table = this.#table;
    const bitmap = await this.#decoder.decode(picture.blob, table).catch(() => null);
    // The same bytes have been decoded before, so the cause is a lack of memory or a closed view, not invalid bytes.
    if (bitmap === null) return;
    if (this.#isClosed || (picture.bitmap !== null && picture.table === table)) {
      bitmap.close();
      return;
    }
    if (hasPixels(picture)) this.#bytes -= bytesOf(picture); // `#store` adds them again
    picture.bitmap?.close();
    picture.bitmap = bitmap;
    picture.table = table;
    this.#store(picture);
  }

  /** Records that the picture is drawn in this frame. */
  touch(picture: TilePicture): void {
    picture.lastUse = this.#frame;
  }

  /** Replaces the bitmap of a picture with a texture of the same pixels. A pinned picture keeps its bitmap, too. */
  moveToTexture(picture: TilePicture, texture: WebGLTexture): void {
    picture.texture = texture;
    if (picture.isPinned) return;
    picture.bitmap?.close();
    picture.bitmap = null;
  }

  /** Removes the textures from all pictures without deleting them: they were lost with the graphics context. */
  removeTextures(): void {
    for (const picture of this.#pictures.values()) {
      if (picture.texture === null) continue;
      picture.texture = null;
      if (picture.bitmap === null) this.#bytes -= bytesOf(picture);
    }
  }

  remove(url: string): void {
    const picture = this.#pictures.get(url);
    if (picture === undefined) return;
    this.#pictures.delete(url);
    this.#free(picture);
  }

  /** Frees all pictures, when the slide is closed. */
  clear(): void {
    for (const url of [...this.#pictures.keys()]) this.remove(url);
  }

  destroy(): void {
    this.#isClosed = true;
    this.clear();
    this.#decoder.destroy();
    this.#unregisterView();
  }

  /** Returns the picture of a tile; undefined when its pixels are not in memory. */
  get(url: string): TilePicture | undefined {
    const picture = this.#pictures.get(url);
    return picture !== undefined && hasPixels(picture) ? picture : undefined;
  }

  #store(picture: TilePicture): void {
    if (this.#pictures.get(picture.url) !== picture) this.remove(picture.url); // an earlier picture of the same tile
    this.#pictures.set(picture.url, picture);
    picture.lastUse = this.#frame;
    this.#bytes += bytesOf(picture);
    const limit = limitOfView();
    if (this.#bytes > limit) this.#evict(limit);
  }

  /**
   * Frees the pictures that were drawn least recently, except visible and pinned pictures, until at most 90 % of the
   * limit is in use, so that evictions are rare.
   */
  #evict(limit: number): void {
    const oldestFirst = [...this.#pictures]
      .filter(([, { lastUse, isPinned }]) => lastUse < this.#frame && !isPinned)
      .sort(([, a], [, b]) => a.lastUse - b.lastUse);
    for (const [url] of oldestFirst) {
      if (this.#bytes <= limit * 0.9) return;
      this.remove(url);
    }
  }

  #free(picture: TilePicture): void {
    if (!hasPixels(picture)) return;
    picture.bitmap?.close();
    picture.bitmap = null;
    if (picture.texture !== null) this.#deleteTexture(picture.texture);
    picture.texture = null;
    this.#bytes -= bytesOf(picture);
  }
}

function hasPixels({ bitmap, texture }: TilePicture): boolean {
  return bitmap !== null || texture !== null;
}

function bytesOf({ width, height }: TilePicture): number {
  return width * height * bytesPerPixel;
}
