/**
 * Reads slides with other programs ("peers"), whose pixels tests compare with those of Lamina: the OpenSlide library
 * and the commands of libvips, if they are installed.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type Colour, cropRaster, type Raster } from '../decode/raster.ts';
import { loadOpenSlide } from '../openslide/library.ts';

/** A slide that a peer (another program) has opened. */
export interface PeerSlide {
  /** Sizes in pixels, in the peer's order. */
  readonly levels: readonly { readonly width: number; readonly height: number }[];
  /** Reads pixels of a level; transparent pixels are blended with the background colour. */
  read(level: number, rectangle: Rectangle, background: Colour): Promise<Raster>;
  close(): Promise<void>;
}

/** A rectangle in pixels of the level. */
export interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** Returns the index of the peer's level that has this size; null when no level has it. */
export function levelLike({ levels }: PeerSlide, size: Pick<Rectangle, 'width' | 'height'>): number | null {
  const index = levels.findIndex(({ width, height }) => width === size.width && height === size.height);
  return index < 0 ? null : index;
}

/** Opens a file with a peer. @returns null for a file that the peer does not read */
export type Peer = (path: string) => Promise<PeerSlide | null>;

/** Maximum pixels of one OpenSlide request. */
const MAX_PIXELS = 2 ** 24;

/** Returns OpenSlide as a peer; null when it is not installed. */
export async function openSlidePeer(): Promise<Peer | null> {
  const library = await loadOpenSlide();
  return (
    library &&
    (async (path) => {
      const slide = await library.open(path);
      if (slide === null) return null;
      if (library.errorOf(slide) !== null) {
        await library.close(slide);
        return null;
      }
      const levels = Array.from({ length: library.levelCount(slide) }, (_, i) => library.levelSize(slide, i));
      const readAt = async (level: number, { x, y, width, height }: Rectangle, background: Colour) => {
        const downsample = library.downsample(slide, level); // OpenSlide takes positions in pixels of level 0
        const bgra = new Uint8Array(width * height * 4);
        await library.readRegion(slide, bgra, x * downsample, y * downsample, level, width, height);
        const error = library.errorOf(slide);
        if (error !== null) throw new Error(error);
        return blendWith(bgra, width, height, background);
      };
      return {
        levels,
        async read(level, rectangle, background) {
          if (Number.isInteger(library.downsample(slide, level))) return readAt(level, rectangle, background);
          // OpenSlide interpolates when the position of a region is fractional at level 0. A region that starts in the
          // top left corner has no fractional position.
          const { x, y, width, height } = rectangle;
          const fromCorner = { x: 0, y: 0, width: x + width, height: y + height };
          if (fromCorner.width * fromCorner.height > MAX_PIXELS)
            throw new Error(`${fromCorner.width} × ${fromCorner.height} pixels are too many`);
          return cropRaster(await readAt(level, fromCorner, background), x, y, width, height);
        },
        close: () => library.close(slide),
      };
    })
  );
}

/**
 * Blends premultiplied pixels with a background.
 *
 * @param bgra blue, green and red, each multiplied by alpha, and alpha
 */
function blendWith(bgra: Uint8Array, width: number, height: number, { r, g, b }: Colour): Raster {
  const rgb = new Uint8Array(width * height * 3);
  for (let source = 0, target = 0; source < bgra.length; source += 4, target += 3) {
    const transparency = 255 - (bgra[source + 3] as number);
    // + 0.5 rounds, because the array truncates.
    rgb[target] = (bgra[source + 2] as number) + (r * transparency) / 255 + 0.5;
    rgb[target + 1] = (bgra[source + 1] as number) + (g * transparency) / 255 + 0.5;
    rgb[target + 2] = (bgra[source] as number) + (b * transparency) / 255 + 0.5;
  }
  return { width, height, rgb };
}

const run = promisify(execFile);
/** Maximum duration of a libvips command. */
const TIMEOUT_MS = 30_000;
/** An image of at most this many pixels is read once as a whole, a larger one rectangle by rectangle. */
const MAX_WHOLE_PIXELS = 2 ** 25;

/** The file readers of libvips that do not use OpenSlide or other programs. */
const loaders = ['tiffload', 'pngload', 'jpegload', 'jp2kload'] as const;
/** Readers with the option "autorotate", which turns an image upright as Lamina does. */
const rotatingLoaders: readonly string[] = ['tiffload', 'jpegload'];

/** Returns libvips as a peer, which reads only full resolution; null when its command is not installed. */
export async function libvipsPeer(): Promise<Peer | null> {
  try {
    await run('vips', ['--version']);
  } catch {
    return null;
  }
  return async (path) => {
    const folder = await mkdtemp(join(tmpdir(), 'peers-'));
    const close = () => rm(folder, { recursive: true });
    // A link with a neutral name: vips treats brackets in a name as options, and opens the extension .svs with OpenSlide.
    const link = join(folder, 'slide');
    await symlink(path, link);
    const picture = await readPictureInfo(link);
    if (picture === null) {
      await close();
      return null;
    }
    const { source, width, height } = picture;
    const crop = async (rectangle: Rectangle, { r, g, b }: Colour) => {
      const target = join(folder, 'part.ppm');
      const { x, y } = rectangle;
      const bounds = [x, y, rectangle.width, rectangle.height].map(String);
      await run('vips', ['crop', source, `${target}[background=${r} ${g} ${b}]`, ...bounds], {
        timeout: TIMEOUT_MS,
      });
      return parsePpm(await readFile(target));
    };
    let whole: Promise<Raster> | null = null;
    return {
      levels: [{ width, height }],
      async read(_level, rectangle, background) {
        if (width * height > MAX_WHOLE_PIXELS) return crop(rectangle, background);
        // All reads of a slide have the same background.
        whole ??= crop({ x: 0, y: 0, width, height }, background);
        return cropRaster(await whole, rectangle.x, rectangle.y, rectangle.width, rectangle.height);
      },
      close,
    };
  };
}

/**
 * Returns the name of an image for commands (with the option to rotate it) and its size; null when libvips itself does
 * not read it as 8-bit grey or RGB.
 */
async function readPictureInfo(
  link: string,
): Promise<{ source: string; width: number; height: number } | null> {
  const readHeader = async (source: string) => {
    const { stdout } = await run('vipsheader', ['-a', source], { timeout: TIMEOUT_MS });
    return (name: string) => new RegExp(`^${name}: (.*)$`, 'm').exec(stdout)?.[1] ?? '';
  };
  try {
    const loader = (await readHeader(link))('vips-loader');
    if (!loaders.some((name) => name === loader)) return null;
    const source = rotatingLoaders.includes(loader) ? `${link}[autorotate]` : link;
    const field = await readHeader(source);
    // Only 8-bit samples are compared, because programs convert samples of more bits to 8 bits differently.
    const isComparable = field('format') === 'uchar' && ['b-w', 'srgb'].includes(field('interpretation'));
    return isComparable ? { source, width: Number(field('width')), height: Number(field('height')) } : null;
  } catch {
    return null;
  }
}

/** Parses a grey (P5) or RGB (P6) file of netpbm, as libvips writes it. */
function parsePpm(bytes: Buffer): Raster {
  const [head = '', kind, width, height] =
    /^P([56])\n(?:#[^\n]*\n)*(\d+) (\d+)\n255\n/.exec(bytes.toString('latin1', 0, 1024)) ?? [];
  const samples = bytes.subarray(head.length);
  return { width: Number(width), height: Number(height), rgb: kind === '6' ? samples : greyToRgb(samples) };
}

function greyToRgb(grey: Uint8Array): Uint8Array {
  const rgb = new Uint8Array(grey.length * 3);
  for (const [i, level] of grey.entries()) rgb.fill(level, i * 3, i * 3 + 3);
  return rgb;
}
