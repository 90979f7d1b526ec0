/**
 * The decoded tiles of a view, bounded in bytes.
 *
 * OpenSeadragon limits its cache by the number of tiles, and keeps a tile's data until it forgets the tile. Here decoded
 * pixels (an ImageBitmap, or a texture of the graphics card) are freed as soon as the limit is exceeded, the least recently drawn
 * first; the compressed bytes stay while the tile is known, so that a tile that comes back into view is decoded again, not
 * loaded again.
 */

import type { ColourTable } from '../colours/colour-table.ts';
import { CorrectingDecoder } from './correcting-decoder.ts';
import { limitOfView, shareLimit } from './picture-limit.ts';

/** Position of a tile in the pyramid of its slide. */
export interface TilePlace {
  /** Deep Zoom level: 0 is one pixel. */
  readonly level: number;
  readonly column: number;
  readonly row: number;
}

/** A tile of the slide and its pixels, if they are in memory. */
export interface TilePicture {
  /** Identifies the tile, without image session. */
  readonly address: string;
  readonly place: TilePlace;
  /** The compressed tile. */
  readonly blob: Blob;
  readonly width: number;
  readonly height: number;
  /** Decoded pixels in main memory; null after upload and after eviction. */
  bitmap: ImageBitmap | null;
  /** The colour table by which the bitmap was corrected; null: it is as stored. */
  table: ColourTable | null;
  /** Decoded pixels in graphics memory; null before the upload, after eviction, and when the context was lost. */
  texture: WebGLTexture | null;
  /** When it was last drawn or decoded, in drawn frames. */
  lastUse: number;
  /** While it is decoded again; never rejects. */
  restoring: Promise<void> | null;
  /** Pinned pictures keep their bitmap after the upload and are not evicted: those of the navigator, which is drawn seldom. */
  isPinned: boolean;
}

/** Deletes a texture. */
type DeleteTexture = (texture: WebGLTexture) => void;

const bytesPerPixel = 4;

export class TilePictures {
  readonly #pictures = new Map<string, TilePicture>();
  readonly #decoder = new CorrectingDecoder();
  #table: ColourTable | null = null;
  #deleteTexture: DeleteTexture = () => {};
  #bytes = 0;
  #frame = 0;
  #isClosed = false;
  readonly #endShare = shareLimit();

  /** Bytes of decoded pixels, in main and graphics memory. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Sets how textures are deleted. */
  deleteTexturesWith(deleteTexture: DeleteTexture): void {
    this.#deleteTexture = deleteTexture;
  }

  /**
   * Sets the table that corrects the bitmaps of tiles that are decoded from now on. Earlier ones stay until they are restored.
   *
   * @param table null: bitmaps are as stored
   */
  correctWith(table: ColourTable | null): void {
    this.#table = table;
  }

  /** The table that corrects the bitmaps; null: they are as stored. */
  get table(): ColourTable | null {
    return this.#table;
  }

  /** Whether the bitmap is in memory and has the colours of the current table. */
  isCurrent({ bitmap, table }: TilePicture): boolean {
    return bitmap !== null && table === this.#table;
  }

  /** Begins a drawn frame. Pixels that are drawn in it are not evicted. */
  beginFrame(): void {
    this.#frame += 1;
  }

  /**
   * Decodes a tile and keeps it under its address.
   *
   * @throws DOMException when the bytes are no image
   */
  async add(address: string, place: TilePlace, blob: Blob): Promise<TilePicture> {
    const table = this.#table;
    const bitmap = await this.#decoder.decode(blob, table);
    const { width, height } = bitmap;
    const picture: TilePicture = {
      address,
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
    this.#keep(picture);
    return picture;
  }

  /** Decodes a tile again whose bitmap was freed, or has the colours of another table. Never rejects. */
  restore(picture: TilePicture): Promise<void> {
    picture.restoring ??= this.#decodeAgain(picture).finally(() => {
      picture.restoring = null;
    });
    return picture.restoring;
  }

  async #decodeAgain(picture: TilePicture): Promise<void> {
    // The same bytes were decoded before. Without memory for them, coarser tiles stay.
    const table = this.#table;
    const bitmap = await this.#decoder.decode(picture.blob, table).catch(() => null);
    if (bitmap === null) return;
    if (this.#isClosed || (picture.bitmap !== null && picture.table === table)) {
      bitmap.close();
      return;
    }
    if (hasPixels(picture)) this.#bytes -= bytesOf(picture);
    picture.bitmap?.close();
    picture.bitmap = bitmap;
    picture.table = table;
    this.#keep(picture);
  }

  /** Records that the picture is drawn in this frame. */
  touch(picture: TilePicture): void {
    picture.lastUse = this.#frame;
  }

  /** Replaces the bitmap of a picture by a texture with the same pixels. */
  moveToTexture(picture: TilePicture, texture: WebGLTexture): void {
    picture.texture = texture;
    if (picture.isPinned) return;
    picture.bitmap?.close();
    picture.bitmap = null;
  }

  /** All textures are gone: the graphics context was lost. */
  forgetTextures(): void {
    for (const picture of this.#pictures.values()) {
      if (picture.texture === null) continue;
      picture.texture = null;
      if (picture.bitmap === null) this.#bytes -= bytesOf(picture);
    }
  }

  remove(address: string): void {
    const picture = this.#pictures.get(address);
    if (picture === undefined) return;
    this.#pictures.delete(address);
    this.#free(picture);
  }

  clear(): void {
    for (const address of [...this.#pictures.keys()]) this.remove(address);
  }

  destroy(): void {
    this.#isClosed = true;
    this.clear();
    this.#decoder.destroy();
    this.#endShare();
  }

  /** Returns the picture of a tile, if its pixels are in memory. */
  at(address: string): TilePicture | undefined {
    const picture = this.#pictures.get(address);
    return picture !== undefined && hasPixels(picture) ? picture : undefined;
  }

  #keep(picture: TilePicture): void {
    if (this.#pictures.get(picture.address) !== picture) this.remove(picture.address);
    this.#pictures.set(picture.address, picture);
    picture.lastUse = this.#frame;
    this.#bytes += bytesOf(picture);
    const limit = limitOfView();
    if (this.#bytes > limit) this.#evict(limit);
  }

  /** Frees pixels that are not visible, least recently drawn first, and some more than needed so that it happens seldom. */
  #evict(limit: number): void {
    const oldestFirst = [...this.#pictures]
      .filter(([, { lastUse, isPinned }]) => lastUse < this.#frame && !isPinned)
      .sort(([, one], [, other]) => one.lastUse - other.lastUse);
    for (const [address] of oldestFirst) {
      if (this.#bytes <= limit * 0.9) return;
      this.remove(address);
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
