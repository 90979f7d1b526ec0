import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { tag } from '../tiff/tags.ts';
import { buildTiff, type DirectoryPlan, long, rational, short, type TiffPlan } from './build-tiff.ts';
import { encodePicture, type PictureColour } from './encode-picture.ts';
import { paintTissue } from './paint-tissue.ts';

/** Options of `buildTiledTiff`; the inherited ones are the byte order of the file and whether it is a BigTIFF. */
export interface TiledTiffPlan extends Pick<TiffPlan, 'isLittleEndian' | 'isBig'> {
  /** Size at full resolution in pixels; by default 480 × 400. */
  readonly width?: number;
  readonly height?: number;
  /** Width and height of a tile in pixels, a multiple of 16; by default 128. */
  readonly tileSize?: number;
  /** Downsamples of the stored levels, full resolution first; by default 1, 2 and 4. */
  readonly downsamples?: readonly number[];
  readonly picture?: Raster; // by default tissue
  readonly colour?: PictureColour; // by default `ycbcr`
  /** Whether smaller levels follow the first directory in the `chain` of directories or are its SubIFDs; by default `chain`. */
  readonly pyramid?: 'chain' | 'subdirectories';
  /** Pixels of full resolution per centimetre, which every level declares; by default no level does. */
  readonly pixelsPerCm?: number;
}

/** Builds a small pyramidal TIFF without vendor metadata. */
export async function buildTiledTiff(plan: TiledTiffPlan = {}): Promise<Uint8Array> {
  const { isLittleEndian = true, isBig = false, pyramid = 'chain' } = plan;
  const levels = await tiledTiffDirectories(plan);
  const [full, ...smallerLevels] = levels as [DirectoryPlan, ...DirectoryPlan[]];
  const directories = pyramid === 'chain' ? levels : [{ ...full, subDirectories: smallerLevels }];
  return buildTiff({ directories, isLittleEndian, isBig }).bytes;
}

/** Builds the directories of a file, largest level first. */
export async function tiledTiffDirectories({
  width = 480,
  height = 400,
  tileSize = 128,
  downsamples = [1, 2, 4],
  picture = paintTissue(width, height),
  colour = 'ycbcr',
  pixelsPerCm,
}: TiledTiffPlan): Promise<DirectoryPlan[]> {
  const resolution = pixelsPerCm && {
    [tag.XResolution]: rational(pixelsPerCm, 1),
    [tag.YResolution]: rational(pixelsPerCm, 1),
    [tag.ResolutionUnit]: short(3), // centimetre
  };
  return Promise.all(
    downsamples.map(async (downsample, level) => {
      const [w, h] = [Math.floor(width / downsample), Math.floor(height / downsample)];
      const reduced = cropRaster(shrinkRaster(picture, downsample), 0, 0, w, h);
      const directory = await encodePicture(reduced, tileSize, colour);
      const tags = { ...directory.tags, [tag.NewSubfileType]: long(level === 0 ? 0 : 1), ...resolution };
      return { ...directory, tags };
    }),
  );
}
