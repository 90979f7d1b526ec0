import { describe, expect, it } from 'vitest';
import type { Orientation } from '../model/slide.ts';
import { orientRaster } from './orient-raster.ts';
import type { Raster } from './raster.ts';

/** Returns an image with a letter for every pixel, row by row. */
function raster(...rows: readonly string[]): Raster {
  const letters = [...rows.join('')].flatMap((letter) => [letter.charCodeAt(0), 0, 255]);
  return { width: rows[0]?.length ?? 0, height: rows.length, rgb: Uint8Array.from(letters) };
}

describe('orientRaster (turns an image upright)', () => {
  // Orientation, sides of the upright image where the stored row 0 ("abc") and column 0 ("a", "d") lie, upright rows.
  it.each<[Orientation, string, readonly string[]]>([
    [1, 'top and left', ['abc', 'def']],
    [2, 'top and right', ['cba', 'fed']],
    [3, 'bottom and right', ['fed', 'cba']],
    [4, 'bottom and left', ['def', 'abc']],
    [5, 'left and top', ['ad', 'be', 'cf']],
    [6, 'right and top', ['da', 'eb', 'fc']],
    [7, 'right and bottom', ['fc', 'eb', 'da']],
    [8, 'left and bottom', ['cf', 'be', 'ad']],
  ])(
    'turns an image of TIFF Orientation %d so that its stored row 0 and column 0 become the %s side',
    (orientation, _, rows) => {
      expect(orientRaster(raster('abc', 'def'), orientation)).toEqual(raster(...rows));
    },
  );
});
