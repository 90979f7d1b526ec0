/**
 * Image requests of the IIIF Image API 3.0: region, size, rotation, quality and format. Parsed strictly: every other
 * spelling is rejected.
 *
 * Source: iiif.io/api/image/3.0 section 4.
 */
import { AppError } from '@lamina/contract';
import { maxViewPixels, type View } from '@lamina/slide';

export interface ImageParameters {
  readonly region: string;
  readonly size: string;
  readonly rotation: string;
  /** `{quality}.{format}` */
  readonly quality: string;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

type Rectangle = Pick<View, 'x' | 'y' | 'width' | 'height'>;

const whole = '(\\d{1,10})';
/** Without exponent or sign; `.5` is not allowed. */
const decimal = '(\\d{1,10}(?:\\.\\d{1,16})?)';
const pixelRegion = new RegExp(`^${whole},${whole},${whole},${whole}$`);
const percentRegion = new RegExp(`^pct:${decimal},${decimal},${decimal},${decimal}$`);
const sizeByWidth = new RegExp(`^${whole},$`);
const sizeByHeight = new RegExp(`^,${whole}$`);
const sizeByPercent = new RegExp(`^pct:${decimal}$`);
const exactSize = new RegExp(`^(!?)${whole},${whole}$`);
const rotationPattern = new RegExp(`^(!?)${decimal}$`);

/**
 * @param image size of the slide
 * @throws AppError invalid_request
 */
export function parseImageRequest(parameters: ImageParameters, image: Size): View {
  const region = regionOf(parameters.region, image);
  const size = sizeOf(parameters.size, region);
  return {
    ...region,
    toWidth: size.width,
    toHeight: size.height,
    ...rotationOf(parameters.rotation),
    ...qualityOf(parameters.quality),
  };
}

/** Returns the size of the largest image of a region that the server sends. */
export function largestSize(region: Size): Size {
  const scale = Math.min(1, Math.sqrt(maxViewPixels / (region.width * region.height)));
  if (scale === 1) return { width: region.width, height: region.height };
  const width = Math.max(1, Math.floor(region.width * scale));
  const height = Math.max(1, Math.floor(region.height * scale));
  return { width: Math.min(width, maxViewPixels), height: Math.min(height, maxViewPixels) };
}

function invalid(field: keyof ImageParameters): AppError {
  return new AppError('invalid_request', { field });
}

function regionOf(text: string, image: Size): Rectangle {
  if (text === 'full') return { x: 0, y: 0, width: image.width, height: image.height };
  if (text === 'square') {
    const side = Math.min(image.width, image.height);
    const [x, y] = [image.width - side, image.height - side].map((rest) => Math.floor(rest / 2));
    return { x: x ?? 0, y: y ?? 0, width: side, height: side };
  }
  const inPixels = pixelRegion.exec(text)?.slice(1).map(Number);
  const inPercent = percentRegion.exec(text)?.slice(1).map(Number);
  const [x = 0, y = 0, width = 0, height = 0] =
    inPixels ??
    inPercent?.map((percent, index) => (percent / 100) * (index % 2 === 0 ? image.width : image.height)) ??
    [];
  const left = Math.round(x);
  const top = Math.round(y);
  // Cropped at the edges of the image.
  const right = Math.min(image.width, Math.round(x + width));
  const bottom = Math.min(image.height, Math.round(y + height));
  if (right <= left || bottom <= top) throw invalid('region');
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function sizeOf(text: string, region: Size): Size {
  const size = text === 'max' ? largestSize(region) : requestedSize(text, region);
  const isInside =
    size.width >= 1 && size.height >= 1 && size.width <= region.width && size.height <= region.height;
  if (!isInside || size.width * size.height > maxViewPixels) throw invalid('size');
  return size;
}

function requestedSize(text: string, region: Size): Size {
  const scaled = (scale: number): Size => ({
    width: Math.max(1, Math.round(region.width * scale)),
    height: Math.max(1, Math.round(region.height * scale)),
  });
  const width = sizeByWidth.exec(text)?.[1];
  if (width !== undefined) {
    return { width: Number(width), height: scaled(Number(width) / region.width).height };
  }
  const height = sizeByHeight.exec(text)?.[1];
  if (height !== undefined) {
    return { width: scaled(Number(height) / region.height).width, height: Number(height) };
  }
  const percent = sizeByPercent.exec(text)?.[1];
  if (percent !== undefined) return Number(percent) === 0 ? noSize : scaled(Number(percent) / 100);
  const [, isConfined, w, h] = exactSize.exec(text) ?? [];
  if (w === undefined || h === undefined) return noSize;
  const [most, tallest] = [Number(w), Number(h)];
  if (isConfined === '') return { width: most, height: tallest };
  if (most === 0 || tallest === 0) return noSize;
  const limit = largestSize(region);
  const scale = Math.min(most / region.width, tallest / region.height, limit.width / region.width, 1);
  const { width: fitting, height: high } = scaled(scale);
  return { width: Math.min(fitting, most), height: Math.min(high, tallest) };
}

const noSize: Size = { width: 0, height: 0 };

function rotationOf(text: string): Pick<View, 'rotation' | 'isMirrored'> {
  const [, mirror, degrees] = rotationPattern.exec(text) ?? [];
  const rotation = rotations.get(Number(degrees));
  if (rotation === undefined) throw invalid('rotation');
  return { rotation, isMirrored: mirror === '!' };
}

const rotations: ReadonlyMap<number, View['rotation']> = new Map([
  [0, 0],
  [90, 90],
  [180, 180],
  [270, 270],
  [360, 0],
]);

function qualityOf(text: string): Pick<View, 'isGrey' | 'format'> {
  const [, quality, format] = /^(default|color|gray)\.(jpg|png)$/.exec(text) ?? [];
  if (quality === undefined || (format !== 'jpg' && format !== 'png')) throw invalid('quality');
  return { isGrey: quality === 'gray', format };
}
