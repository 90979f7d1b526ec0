/** Builds OME-TIFF files for tests, from OME-XML and directories. */
import { type Raster, shrinkRaster } from '../decode/raster.ts';
import type { Slide } from '../model/slide.ts';
import { tag } from '../tiff/tags.ts';
import { ascii, buildTiff, type DirectoryPlan, long, type TiffPlan } from './build-tiff.ts';
import { losslessDirectory, losslessPicture, withTags } from './lossless-directory.ts';
import { openBytes } from './open-bytes.ts';
import { paintTissue } from './paint-tissue.ts';

const NAMESPACE = 'http://www.openmicroscopy.org/Schemas/OME/2016-06';
// The identifiers of the built file and of another file.
export const UUID = 'urn:uuid:00000000-0000-4000-8000-000000000001';
export const OTHER_UUID = 'urn:uuid:00000000-0000-4000-8000-000000000002';

/** Size of the test images in pixels. */
export const [WIDTH, HEIGHT] = [300, 200];
export const tissue = paintTissue(WIDTH, HEIGHT);
/** Side of a tile in pixels, unless a test states another one. */
const TILE_SIDE = 64;

// The following functions build elements of OME-XML; `attributes` are written as they are.
export const omeXml = (content: string, attributes = `UUID="${UUID}"`) =>
  `<?xml version="1.0" encoding="UTF-8"?><!-- made by a microscope --><OME xmlns="${NAMESPACE}" ${attributes}>${content}</OME>`;

export const pixelsXml = (attributes: string, content = '') =>
  `<Pixels DimensionOrder="XYCZT" SizeX="${WIDTH}" SizeY="${HEIGHT}" SizeZ="1" SizeT="1" Type="uint8" ${attributes}>${content}</Pixels>`;

export const imageXml = (content: string, attributes = '') =>
  `<Image ID="Image:0" ${attributes}>${content}</Image>`;

/** The metadata of one RGB image in the first directory. */
export const RGB_XML = omeXml(
  imageXml(pixelsXml('SizeC="3"', '<Channel SamplesPerPixel="3"/><TiffData IFD="0" PlaneCount="1"/>')),
);

/** Builds an OME-TIFF with the XML in the ImageDescription of its first directory. */
export function buildOmeTiff(
  xml: string,
  [first, ...others]: DirectoryPlan[],
  plan: Partial<TiffPlan> = {},
): Uint8Array {
  const described = withTags(first, { [tag.ImageDescription]: ascii(xml) });
  return buildTiff({ directories: [described, ...others], ...plan }).bytes;
}

export const openOmeTiff = (
  xml: string,
  directories: DirectoryPlan[],
  plan?: Partial<TiffPlan>,
): Promise<Slide> => openBytes(buildOmeTiff(xml, directories, plan));

/** Marks a directory as a smaller resolution of the image before it. */
export const reducedImageTag = { [tag.NewSubfileType]: long(1) };

/** Directories with `tissue` at 1/2 and 1/4 of its size. */
export const reducedDirectories = [2, 4].map((downsample) =>
  withTags(losslessPicture(shrinkRaster(tissue, downsample), TILE_SIDE), reducedImageTag),
);

/** Returns a directory with the grey image of a plane; each plane is darker by 20 than the plane before it. `tileSize` null: strips. */
export const greyDirectory = (index: number, tileSize: number | null = TILE_SIDE): DirectoryPlan =>
  losslessDirectory({
    width: WIDTH,
    height: HEIGHT,
    tileSize,
    samplesPerPixel: 1,
    bits: 8,
    sampleAt: (x, y) => greyAt(index, x, y),
  });

/** Returns the sample of `greyDirectory(index)` at a position; it increases rightwards and downwards, and repeats. */
export const greyAt = (index: number, x: number, y: number) => Math.max(0, (x % 200) + (y % 10) - index * 20);

/** Paints an image pixel by pixel. @param pixelAt returns red, green and blue, 0…255, of a pixel */
export function paintPicture(
  width: number,
  height: number,
  pixelAt: (x: number, y: number) => number[],
): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) rgb.set(pixelAt(x, y), (y * width + x) * 3);
  }
  return { width, height, rgb };
}

/** Returns the expected image of `greyDirectory(index)`. */
export const greyPicture = (index: number) =>
  paintPicture(WIDTH, HEIGHT, (x, y) => Array.from({ length: 3 }, () => greyAt(index, x, y)));

/** Returns width and height of each level. */
export const sizesOf = ({ levels }: Slide) => levels.map(({ width, height }) => [width, height]);
/** The result of `sizesOf` for a slide with `tissue` and the `reducedDirectories`. */
export const pyramidSizes = [
  [300, 200],
  [150, 100],
  [75, 50],
];
