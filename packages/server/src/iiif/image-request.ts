/**
 * Parses image requests of the IIIF Image API 3.0 (iiif.io/api/image/3.0 section 4), such as `0,0,512,512/!256,256/90/gray.jpg`:
 * region, size, rotation, quality and format. Rejects every spelling that the specification does not allow.
 */
import { AppError } from '@lamina/contract';
import { isWithinViewLimits, maxViewPixels, maxViewSide, type View } from '@lamina/slide';

/** The last four segments of the path of an image request. */
export interface ImageParameters {
  readonly region: string;
  readonly size: string;
  readonly rotation: string;
  /** The last segment, which also contains the format: `{quality}.{format}`. */
  readonly quality: string;
}

interface Size {
  readonly width: number;
  readonly height: number;
}

type Rectangle = Pick<View, 'x' | 'y' | 'width' | 'height'>;

const integer = '(\\d{1,10})';
/** A number without exponent or sign. The spelling `.5` is not allowed. */
const decimal = '(\\d{1,10}(?:\\.\\d{1,16})?)';
const pixelRegion = new RegExp(`^${integer},${integer},${integer},${integer}$`);
const percentRegion = new RegExp(`^pct:${decimal},${decimal},${decimal},${decimal}$`);
const sizeByWidth = new RegExp(`^${integer},$`);
const sizeByHeight = new RegExp(`^,${integer}$`);
const sizeByPercent = new RegExp(`^pct:${decimal}$`);
/** `w,h` is an exact size; `!w,h` keeps the proportions and fits the image into the size. */
const sizeByBoth = new RegExp(`^(!?)${integer},${integer}$`);
const rotationPattern = new RegExp(`^(!?)${decimal}$`);

/**
 * Returns the view that the parameters request: a region in pixels of full resolution, and the size of the rendered
 * image (`toWidth`, `toHeight`).
 *
 * @param image size of the slide in pixels of full resolution
 * @throws AppError invalid_request, also for an image that is larger than the region, `maxViewPixels` or `maxViewSide`
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

/**
 * Returns the size of the largest image of a region that the server sends: without enlarging it, with at most `maxViewPixels`, and with
 * sides of at most `maxViewSide`.
 */
export function largestSize(region: Size): Size {
  const scale = largestScale(region);
  // A side of 1 pixel cannot shrink further. The limits hold nevertheless, because the other side has at most `maxViewSide` pixels.
  return {
    width: Math.max(1, Math.floor(region.width * scale)),
    height: Math.max(1, Math.floor(region.height * scale)),
  };
}

function largestScale({ width, height }: Size): number {
  return Math.min(1, maxViewSide / width, maxViewSide / height, Math.sqrt(maxViewPixels / (width * height)));
}

function invalid(field: keyof ImageParameters): AppError {
  return new AppError('invalid_request', { field });
}

function regionOf(text: string, image: Size): Rectangle {
  if (text === 'full') return { x: 0, y: 0, width: image.width, height: image.height };
  if (text === 'square') {
    const side = Math.min(image.width, image.height);
    const x = Math.floor((image.width - side) / 2);
    const y = Math.floor((image.height - side) / 2);
    return { x, y, width: side, height: side };
  }
  const numbersInPixels = pixelRegion.exec(text)?.slice(1).map(Number);
  const numbersInPercent = percentRegion.exec(text)?.slice(1).map(Number);
  // x and width (even indices) are percentages of the image's width, y and height of its height.
  const convertedNumbers = numbersInPercent?.map(
    (percent, index) => (percent / 100) * (index % 2 === 0 ? image.width : image.height),
  );
  const [x = 0, y = 0, width = 0, height = 0] = numbersInPixels ?? convertedNumbers ?? [];
  const left = Math.round(x);
  const top = Math.round(y);
  // Cuts off the part of the region beyond the right and bottom edges of the image.
  const right = Math.min(image.width, Math.round(x + width));
  const bottom = Math.min(image.height, Math.round(y + height));
  if (right <= left || bottom <= top) throw invalid('region');
  return { x: left, y: top, width: right - left, height: bottom - top };
}

function sizeOf(text: string, region: Size): Size {
  const size = text === 'max' ? largestSize(region) : requestedSize(text, region);
  const isWithinRegion =
    size.width >= 1 && size.height >= 1 && size.width <= region.width && size.height <= region.height;
  if (!isWithinRegion || !isWithinViewLimits(size.width, size.height)) throw invalid('size');
  return size;
}

/** Parses the size parameter; returns `noSize`, which `sizeOf` rejects, for an invalid one. */
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
  const [, exclamationMark, widthText, heightText] = sizeByBoth.exec(text) ?? [];
  if (widthText === undefined || heightText === undefined) return noSize;
  const [givenWidth, givenHeight] = [Number(widthText), Number(heightText)];
  if (exclamationMark === '') return { width: givenWidth, height: givenHeight };
  if (givenWidth === 0 || givenHeight === 0) return noSize;
  const largest = largestSize(region);
  const fitted = scaled(
    Math.min(givenWidth / region.width, givenHeight / region.height, largestScale(region)),
  );
  // Rounding up may have exceeded a limit by a pixel.
  return {
    width: Math.min(fitted.width, givenWidth, largest.width),
    height: Math.min(fitted.height, givenHeight, largest.height),
  };
}

const noSize: Size = { width: 0, height: 0 };

function rotationOf(text: string): Pick<View, 'rotation' | 'isMirrored'> {
  const [, exclamationMark, degrees] = rotationPattern.exec(text) ?? []; // `!` mirrors the image
  const rotation = rotations.get(Number(degrees)); // the server supports only multiples of 90°
  if (rotation === undefined) throw invalid('rotation');
  return { rotation, isMirrored: exclamationMark === '!' };
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
