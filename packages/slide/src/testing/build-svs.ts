import { cropRaster, type Raster, shrinkRaster } from '../decode/raster.ts';
import { tag } from '../tiff/tags.ts';
import { ascii, buildTiff, type DirectoryPlan, long, type TiffPlan, undefinedBytes } from './build-tiff.ts';
import { encodePicture, type PictureColour } from './encode-picture.ts';
import { paintPlain, paintTissue } from './paint-tissue.ts';

/** Options of `buildSvs`; the inherited ones are the byte order of the file and whether it is a BigTIFF. */
export interface SvsPlan extends Pick<TiffPlan, 'isLittleEndian' | 'isBig'> {
  /** Size at full resolution in pixels; by default 480 × 400. */
  readonly width?: number;
  readonly height?: number;
  /** Width and height of a tile in pixels, a multiple of 16; by default 128. */
  readonly tileSize?: number;
  /** Downsamples of the stored levels, full resolution first (their sizes are rounded down); by default 1 and 4. */
  readonly downsamples?: readonly number[];
  /** The image; by default tissue. */
  readonly picture?: Raster;
  readonly colour?: PictureColour; // by default `rgb`
  /**
   * The `|name = value` pairs of the ImageDescription; by default AppMag (magnification) 20 and MPP (µm per pixel)
   * 0.4990.
   */
  readonly properties?: Readonly<Record<string, string>>;
  /** Returns whether the scanner left a tile empty; by default no tile is empty. */
  readonly isEmpty?: (level: number, column: number, row: number) => boolean;
  /** The ICC profile of the level of full resolution; by default none. */
  readonly profile?: Uint8Array;
  /** Whether to add a thumbnail, a label image (green) and a macro image of the whole glass (blue); by default true. */
  readonly hasAssociatedImages?: boolean;
}

/** Builds a small Aperio slide, with tiles, tables and descriptions like those of a scanner. */
export async function buildSvs(plan: SvsPlan = {}): Promise<Uint8Array> {
  const { isLittleEndian = true, isBig = false } = plan;
  return buildTiff({ directories: await svsDirectories(plan), isLittleEndian, isBig }).bytes;
}

/** Builds the directories of a slide: full resolution, thumbnail, other levels, label, macro. */
export async function svsDirectories({
  width = 480,
  height = 400,
  tileSize = 128,
  downsamples = [1, 4],
  picture = paintTissue(width, height),
  colour = 'rgb',
  properties = { AppMag: '20', MPP: '0.4990' },
  isEmpty = () => false,
  hasAssociatedImages = true,
  profile,
}: SvsPlan): Promise<DirectoryPlan[]> {
  const library = 'Aperio Image Library v11.2.1';
  const pairs = Object.entries(properties).map(([name, value]) => `|${name} = ${value}`);
  const size = `${width}x${height}`;

  const levels = await Promise.all(
    downsamples.map(async (downsample, level) => {
      const [w, h] = [Math.floor(width / downsample), Math.floor(height / downsample)];
      const reduced = cropRaster(shrinkRaster(picture, downsample), 0, 0, w, h);
      const directory = await encodePicture(reduced, tileSize, colour);
      const header = `${library} \r\n${size} [0,0 ${size}] (${tileSize}x${tileSize})`;
      const description =
        level === 0 ? `${header} JPEG/RGB Q=90${pairs.join('')}` : `${header} -> ${w}x${h} JPEG/RGB Q=90`;
      const columns = Math.ceil(w / tileSize);
      const tiles = directory.tiles?.map((tile, i) =>
        isEmpty(level, i % columns, Math.floor(i / columns)) ? null : tile,
      );
      const tags = level === 0 && profile ? { [tag.ICCProfile]: undefinedBytes(profile) } : {};
      const stored = { ...directory, tags: { ...directory.tags, ...tags }, tiles: tiles ?? [] };
      return withDescription(stored, description, 0);
    }),
  );
  const [full, ...smallerLevels] = levels as [DirectoryPlan, ...DirectoryPlan[]];
  if (!hasAssociatedImages) return levels;
  const maxThumbnailSide = 256;
  const factor = Math.max(1, Math.ceil(Math.max(width, height) / maxThumbnailSide));
  const thumbnail = shrinkRaster(picture, factor);
  return [
    full,
    withDescription(
      await encodePicture(thumbnail, null), // null: in strips
      `${library} \r\n${size} -> ${thumbnail.width}x${thumbnail.height} - ${pairs.join('')}`,
      0,
    ),
    ...smallerLevels,
    withDescription(
      await encodePicture(paintPlain(90, 96, [0, 255, 0]), null),
      `${library} \r\nlabel 90x96`,
      1,
    ),
    withDescription(
      await encodePicture(paintPlain(160, 64, [0, 0, 255]), null),
      `${library} \r\nmacro 160x64`,
      9,
    ),
  ];
}

/**
 * Adds an ImageDescription and a NewSubfileType.
 *
 * @param subfileType NewSubfileType: Aperio writes 0 for the slide, 1 for the label, 9 for the macro
 */
function withDescription(directory: DirectoryPlan, description: string, subfileType: number): DirectoryPlan {
  const tags = {
    ...directory.tags,
    [tag.NewSubfileType]: long(subfileType),
    [tag.ImageDescription]: ascii(description),
  };
  return { ...directory, tags };
}
