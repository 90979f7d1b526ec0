import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CorrectingDecoder } from './correcting-decoder.ts';
import { limitPictures, pictureLimitOf } from './picture-limit.ts';
import { type TilePicture, TilePictures } from './tile-pictures.ts';

const bytesOfTile = 240 * 240 * 4;
const place = { level: 9, column: 0, row: 0 };
let openBitmaps = 0;
let pictures: TilePictures;

beforeEach(() => {
  openBitmaps = 0;
  vi.stubGlobal('createImageBitmap', async () => {
    openBitmaps += 1;
    return {
      width: 240,
      height: 240,
      close: () => {
        openBitmaps -= 1;
      },
    };
  });
  limitPictures(10 * bytesOfTile);
  pictures = new TilePictures();
});

afterEach(() => {
  pictures.destroy();
  vi.restoreAllMocks();
});

const add = (url: string) => pictures.add(url, place, new Blob());

/** Draws these pictures in a frame. */
function draw(...drawn: readonly TilePicture[]): void {
  pictures.beginFrame();
  for (const picture of drawn) pictures.touch(picture);
}

describe('TilePictures', () => {
  it('evicts the least recently drawn pictures beyond its limit and closes their bitmaps', async () => {
    const first = await add('first');
    draw();
    for (let place = 0; place < 9; place += 1) await add(`tile ${place}`);
    draw(first);
    await add('one more');
    expect(pictures.at('first')).toBe(first);
    expect(pictures.at('tile 0')).toBeUndefined();
    expect(pictures.bytes).toBeLessThanOrEqual(10 * bytesOfTile);
    expect(openBitmaps).toBe(pictures.bytes / bytesOfTile);
  });

  it('keeps pictures of the current frame even beyond its limit', async () => {
    const visible = [];
    for (let place = 0; place < 15; place += 1) visible.push(await add(`tile ${place}`));
    draw(...visible);
    await add('one more');
    expect(visible.every(({ url }) => pictures.at(url))).toBe(true);
  });

  it('closes a bitmap after its upload and deletes the texture when the picture is evicted', async () => {
    const deleted = vi.fn<(texture: WebGLTexture) => void>();
    pictures.deleteTexturesWith(deleted);
    const picture = await add('tile');
    const texture = {} as WebGLTexture;
    pictures.moveToTexture(picture, texture);
    expect(openBitmaps).toBe(0);
    pictures.remove('tile');
    expect(deleted).toHaveBeenCalledExactlyOnceWith(texture);
    expect(pictures.bytes).toBe(0);
  });

  it('decodes a picture again after its texture is lost with the graphics context', async () => {
    const picture = await add('tile');
    pictures.moveToTexture(picture, {} as WebGLTexture);
    pictures.forgetTextures();
    expect([picture.texture, pictures.bytes]).toEqual([null, 0]);
    await Promise.all([pictures.restore(picture), pictures.restore(picture)]);
    expect(picture.bitmap).not.toBeNull();
    expect([openBitmaps, pictures.bytes]).toEqual([1, bytesOfTile]);
  });

  it('replaces a bitmap that was corrected by another colour table, and closes the old bitmap', async () => {
    const picture = await add('tile');
    expect(pictures.isCurrent(picture)).toBe(true);
    vi.spyOn(CorrectingDecoder.prototype, 'decode').mockImplementation((blob) => createImageBitmap(blob));
    const table = { size: 2, samples: new Uint8Array(24) };
    pictures.correctWith(table);
    const before = picture.bitmap;
    expect([pictures.isCurrent(picture), pictures.at('tile')]).toEqual([false, picture]);
    await Promise.all([pictures.restore(picture), pictures.restore(picture)]);
    expect([pictures.isCurrent(picture), picture.bitmap === before]).toEqual([true, false]);
    expect([openBitmaps, pictures.bytes]).toEqual([1, bytesOfTile]);
  });

  it('does not evict pictures of the navigator and keeps their bitmaps', async () => {
    const pinned = await add('pinned');
    pinned.isPinned = true;
    pictures.moveToTexture(pinned, {} as WebGLTexture);
    expect(pinned.bitmap).not.toBeNull();
    for (let place = 0; place < 30; place += 1) {
      draw();
      await add(`tile ${place}`);
    }
    expect(pictures.at('pinned')).toBe(pinned);
  });

  it('uses half of the memory limit of the page while a second view is open', async () => {
    const other = new TilePictures();
    for (let place = 0; place < 9; place += 1) {
      draw();
      await add(`tile ${place}`);
    }
    expect(pictures.bytes).toBeLessThanOrEqual(5 * bytesOfTile);
    other.destroy();
  });

  it('closes all bitmaps when it is destroyed, including those decoded afterwards', async () => {
    const picture = await add('tile');
    pictures.remove('tile');
    const restored = pictures.restore(picture);
    await add('other');
    pictures.destroy();
    await restored;
    expect([openBitmaps, pictures.bytes]).toEqual([0, 0]);
  });
});

describe('pictureLimitOf', () => {
  it.each([
    [undefined, 256],
    [8, 256],
    [4, 128],
    [2, 64],
    [0.5, 64],
  ])('for a device with %s GB of memory, returns %s MiB', (memory, mebibytes) => {
    expect(pictureLimitOf(memory)).toBe(mebibytes * 2 ** 20);
  });
});
