import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CorrectingDecoder } from './correcting-decoder.ts';
import { pictureLimitOf, setPictureLimit } from './picture-limit.ts';
import { type TilePicture, TilePictures } from './tile-pictures.ts';

const bytesOfTile = 240 * 240 * 4; // 240 × 240 pixels of 4 bytes
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
  setPictureLimit(10 * bytesOfTile);
  pictures = new TilePictures();
});

afterEach(() => {
  pictures.destroy();
  vi.restoreAllMocks();
});

const add = (url: string) => pictures.add(url, place, new Blob());

/** Begins a frame in which these pictures are drawn. */
function drawFrame(...drawnPictures: readonly TilePicture[]): void {
  pictures.beginFrame();
  for (const picture of drawnPictures) pictures.touch(picture);
}

describe('TilePictures (decoded tiles in memory)', () => {
  it('evicts the least recently drawn pictures and closes their bitmaps when its limit in bytes is exceeded', async () => {
    const first = await add('first');
    drawFrame();
    for (let index = 0; index < 9; index += 1) await add(`tile ${index}`);
    drawFrame(first);
    await add('one more');
    expect(pictures.get('first')).toBe(first);
    expect(pictures.get('tile 0')).toBeUndefined();
    expect(pictures.bytes).toBeLessThanOrEqual(10 * bytesOfTile);
    expect(openBitmaps).toBe(pictures.bytes / bytesOfTile);
  });

  it('keeps the pictures of the current frame even when they exceed the limit', async () => {
    const visible = [];
    for (let index = 0; index < 15; index += 1) visible.push(await add(`tile ${index}`));
    drawFrame(...visible);
    await add('one more');
    expect(visible.every(({ url }) => pictures.get(url))).toBe(true);
  });

  it('closes a bitmap after its upload to graphics memory, and deletes the texture when the picture is removed', async () => {
    const deleteTexture = vi.fn<(texture: WebGLTexture) => void>();
    pictures.setTextureDeletion(deleteTexture);
    const picture = await add('tile');
    const texture = {} as WebGLTexture;
    pictures.moveToTexture(picture, texture);
    expect(openBitmaps).toBe(0);
    pictures.remove('tile');
    expect(deleteTexture).toHaveBeenCalledExactlyOnceWith(texture);
    expect(pictures.bytes).toBe(0);
  });

  it('restore decodes a picture again whose texture was lost with the graphics context', async () => {
    const picture = await add('tile');
    pictures.moveToTexture(picture, {} as WebGLTexture);
    pictures.removeTextures();
    expect([picture.texture, pictures.bytes]).toEqual([null, 0]);
    await Promise.all([pictures.restore(picture), pictures.restore(picture)]);
    expect(picture.bitmap).not.toBeNull();
    expect([openBitmaps, pictures.bytes]).toEqual([1, bytesOfTile]);
  });

  it('restore replaces a bitmap that was decoded before the colour table changed', async () => {
    const picture = await add('tile');
    expect(pictures.isCurrent(picture)).toBe(true);
    vi.spyOn(CorrectingDecoder.prototype, 'decode').mockImplementation((blob) => createImageBitmap(blob));
    const table = { size: 2, samples: new Uint8Array(24) };
    pictures.setColourTable(table);
    const oldBitmap = picture.bitmap;
    expect([pictures.isCurrent(picture), pictures.get('tile')]).toEqual([false, picture]);
    await Promise.all([pictures.restore(picture), pictures.restore(picture)]);
    expect([pictures.isCurrent(picture), picture.bitmap === oldBitmap]).toEqual([true, false]);
    expect([openBitmaps, pictures.bytes]).toEqual([1, bytesOfTile]);
  });

  it('keeps the pinned pictures of the navigator when its limit in bytes is exceeded', async () => {
    const pinned = await add('pinned');
    pinned.isPinned = true;
    pictures.moveToTexture(pinned, {} as WebGLTexture);
    expect(pinned.bitmap).not.toBeNull();
    for (let index = 0; index < 30; index += 1) {
      drawFrame();
      await add(`tile ${index}`);
    }
    expect(pictures.get('pinned')).toBe(pinned);
  });

  it('uses half of the memory limit of the page while a second view is open', async () => {
    const picturesOfSecondView = new TilePictures();
    for (let index = 0; index < 9; index += 1) {
      drawFrame();
      await add(`tile ${index}`);
    }
    expect(pictures.bytes).toBeLessThanOrEqual(5 * bytesOfTile);
    picturesOfSecondView.destroy();
  });

  it('closes all bitmaps when destroy is called, including those that are still being decoded', async () => {
    const picture = await add('tile');
    pictures.remove('tile');
    const restoring = pictures.restore(picture);
    await add('other');
    pictures.destroy();
    await restoring;
    expect([openBitmaps, pictures.bytes]).toEqual([0, 0]);
  });
});

describe('pictureLimitOf (memory limit for decoded tiles)', () => {
  it.each([
    [undefined, 256],
    [8, 256],
    [4, 128],
    [2, 64],
    [0.5, 64],
  ])(
    'for a device memory of %s GB (undefined: the browser does not report it), returns a limit of %s MiB',
    (memory, mebibytes) => {
      expect(pictureLimitOf(memory)).toBe(mebibytes * 2 ** 20);
    },
  );
});
