import type { Orientation } from '../model/slide.ts';
import type { Raster } from './raster.ts';

/** How the axes of the upright image run in the stored image. */
interface Transform {
  /** Whether width and height are exchanged: the upright x axis is the stored y axis. */
  readonly isSwapped: boolean;
  /** Whether the upright x axis (`flipsY`: the y axis) runs opposite to the stored axis from which it is read. */
  readonly flipsX: boolean;
  readonly flipsY: boolean;
}

/** Transforms by the value of the TIFF tag Orientation. */
const transforms: Readonly<Record<Orientation, Transform>> = {
  1: { isSwapped: false, flipsX: false, flipsY: false },
  2: { isSwapped: false, flipsX: true, flipsY: false },
  3: { isSwapped: false, flipsX: true, flipsY: true },
  4: { isSwapped: false, flipsX: false, flipsY: true },
  5: { isSwapped: true, flipsX: false, flipsY: false },
  6: { isSwapped: true, flipsX: true, flipsY: false },
  7: { isSwapped: true, flipsX: true, flipsY: true },
  8: { isSwapped: true, flipsX: false, flipsY: true },
};

/**
 * Returns the transform of an orientation. Source: TIFF 6.0, section 8, Orientation, which names the sides of the
 * upright image where the stored row 0 and column 0 are.
 */
export function orientationTransform(orientation: Orientation): Transform {
  return transforms[orientation];
}

/** Returns the stored image rotated and mirrored so that it is upright. */
export function orientRaster(raster: Raster, orientation: Orientation): Raster {
  if (orientation === 1) return raster;
  const { isSwapped, flipsX, flipsY } = orientationTransform(orientation);
  const width = isSwapped ? raster.height : raster.width;
  const height = isSwapped ? raster.width : raster.height;
  const rgb = new Uint8Array(raster.rgb.length);
  /** Distance in the stored samples from one upright pixel to its right neighbour. */
  const step = (isSwapped ? raster.width : 1) * (flipsX ? -3 : 3);
  for (let y = 0, to = 0; y < height; y++) {
    // The first pixel of this upright row in the stored image: its positions along the axes that become x and y, then as column and row.
    const [alongX, alongY] = [flipsX ? width - 1 : 0, flipsY ? height - 1 - y : y];
    const [column, row] = isSwapped ? [alongY, alongX] : [alongX, alongY];
    for (let x = 0, from = (row * raster.width + column) * 3; x < width; x++, from += step) {
      rgb[to++] = raster.rgb[from] as number;
      rgb[to++] = raster.rgb[from + 1] as number;
      rgb[to++] = raster.rgb[from + 2] as number;
    }
  }
  return { width, height, rgb };
}
