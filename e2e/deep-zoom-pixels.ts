/** Decoded Deep Zoom tiles of the product, which other-viewers.spec.ts compares with the pixels that other viewers show. */
import sharp from 'sharp';

/** Pixels of 3 bytes (red, green, blue), row by row. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly data: Uint8Array;
}

/** A rectangle in pixels of full resolution; `left` and `top` are measured from the upper left corner of the slide. */
export interface Area {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export interface DeepZoomImage {
  readonly width: number;
  readonly height: number;
  readonly tileSize: number;
  /** Returns the JPEG bytes of a tile of full resolution. */
  fetchTile(column: number, row: number): Promise<Uint8Array>;
  /** Returns the decoded pixels of a tile of full resolution. */
  readTile(column: number, row: number): Promise<Pixels>;
  /** Returns the pixels of a part of the image at full resolution. It requests every tile of the part, one after the other. */
  readArea(area: Area): Promise<Pixels>;
}

/** Decodes a JPEG, PNG or other image to sRGB without alpha. */
export async function decode(encoded: Uint8Array): Promise<Pixels> {
  const picture = sharp(encoded).toColourspace('srgb').removeAlpha().raw();
  const { data, info } = await picture.toBuffer({ resolveWithObject: true });
  return { width: info.width, height: info.height, data };
}

/** Reads the Deep Zoom descriptor of an image. @param get requests a path of the product and returns the response body */
export async function openDeepZoomImage(
  imageId: string,
  get: (path: string) => Promise<Uint8Array>,
): Promise<DeepZoomImage> {
  const base = `/api/v1/image-catalog/proxy/${imageId}`;
  const descriptor = Buffer.from(await get(`${base}/image.dzi`)).toString();
  const numberOf = (name: string) => Number(new RegExp(`${name}="(\\d+)"`).exec(descriptor)?.[1]);
  const [width, height, tileSize] = [numberOf('Width'), numberOf('Height'), numberOf('TileSize')];
  const fullResolutionLevel = Math.ceil(Math.log2(Math.max(width, height))); // Deep Zoom level
  const fetchTile = (column: number, row: number) =>
    get(`${base}/image_files/${fullResolutionLevel}/${column}_${row}.jpeg`);
  const readTile = async (column: number, row: number) => decode(await fetchTile(column, row));

  async function readArea({ left, top, ...size }: Area): Promise<Pixels> {
    const pixels: Pixels = { ...size, data: new Uint8Array(size.width * size.height * 3) };
    for (let row = Math.floor(top / tileSize); row * tileSize < top + size.height; row++) {
      for (let column = Math.floor(left / tileSize); column * tileSize < left + size.width; column++) {
        copyPixels(await readTile(column, row), pixels, column * tileSize - left, row * tileSize - top);
      }
    }
    return pixels;
  }
  return { width, height, tileSize, fetchTile, readTile, readArea };
}

/** Copies the source to position x, y of the target and omits pixels outside of the target, for example those at a negative position. */
function copyPixels(source: Pixels, target: Pixels, x: number, y: number): void {
  const [firstColumn, endColumn] = [Math.max(0, -x), Math.min(source.width, target.width - x)];
  for (let row = Math.max(0, -y); row < Math.min(source.height, target.height - y); row++) {
    const sourceStart = row * source.width * 3;
    const targetStart = ((row + y) * target.width + x + firstColumn) * 3;
    const samples = source.data.subarray(sourceStart + firstColumn * 3, sourceStart + endColumn * 3);
    target.data.set(samples, targetStart);
  }
}

export interface Difference {
  /** Mean difference of all samples, 0 to 255. */
  readonly mean: number;
  /** Share of the pixels whose samples are all equal, 0 to 1. */
  readonly equal: number;
}

/**
 * Compares `shown` with `expected`, which may be larger.
 *
 * @returns the smallest difference over all positions of `shown` within `expected`
 */
export function differenceOf(shown: Pixels, expected: Pixels): Difference {
  let smallest: Difference = { mean: 255, equal: 0 };
  for (let x = 0; x <= expected.width - shown.width; x++) {
    for (let y = 0; y <= expected.height - shown.height; y++) {
      const difference = differenceAt(shown, expected, x, y);
      if (difference.mean < smallest.mean) smallest = difference;
    }
  }
  return smallest;
}

function differenceAt(shown: Pixels, expected: Pixels, x: number, y: number): Difference {
  let sum = 0; // of the differences of all samples
  let equalPixels = 0;
  for (let row = 0; row < shown.height; row++) {
    let shownIndex = row * shown.width * 3;
    let expectedIndex = ((row + y) * expected.width + x) * 3;
    for (let column = 0; column < shown.width; column++) {
      let difference = 0;
      for (let sample = 0; sample < 3; sample++) {
        difference += Math.abs((shown.data[shownIndex++] ?? 0) - (expected.data[expectedIndex++] ?? 0));
      }
      sum += difference;
      if (difference === 0) equalPixels++;
    }
  }
  const pixels = shown.width * shown.height;
  return { mean: sum / (pixels * 3), equal: equalPixels / pixels };
}

/**
 * Returns the upper left part of a DICOM frame (a tile in DICOM). Frames at the right and lower edge of a slide are larger than
 * their Deep Zoom tiles.
 */
export function crop(
  { width, data }: Pixels,
  size: { readonly width: number; readonly height: number },
): Pixels {
  const cropped = new Uint8Array(size.width * size.height * 3);
  for (let row = 0; row < size.height; row++) {
    const start = row * width * 3;
    cropped.set(data.subarray(start, start + size.width * 3), row * size.width * 3);
  }
  return { ...size, data: cropped };
}
