import { describe, expect, it } from 'vitest';
import { emptyStainTile, GLASS, renderRgb } from './stain.ts';

/** Returns the colour of tissue with these amounts of stain. */
function colourOf(haematoxylin: number, eosin: number, orange = 0): number[] {
  const tile = emptyStainTile(0, 0, 4);
  tile.haematoxylin.fill(haematoxylin);
  tile.eosin.fill(eosin);
  tile.orange.fill(orange);
  const picture = new Uint8Array(2 * 2 * 3);
  renderRgb(tile, picture, 0, 6);
  return [...picture.subarray(0, 3)];
}

describe('colours that renderRgb computes from amounts of stain (H&E)', () => {
  it('are the colour of glass where there is no stain', () => {
    expect(colourOf(0, 0)).toEqual([...GLASS]);
  });

  it('are blue-purple for haematoxylin and pink for eosin', () => {
    const [nucleusRed, nucleusGreen, nucleusBlue] = colourOf(1, 0.2) as [number, number, number];
    expect(nucleusBlue).toBeGreaterThan(nucleusRed);
    expect(nucleusRed).toBeGreaterThan(nucleusGreen);
    const [red, green, blue] = colourOf(0.05, 0.6) as [number, number, number];
    expect(red).toBeGreaterThan(blue);
    expect(blue).toBeGreaterThan(green);
  });

  it('become darker with each additional stain', () => {
    const sum = (colour: number[]) => colour.reduce((a, b) => a + b, 0);
    expect(sum(colourOf(1, 1))).toBeLessThan(sum(colourOf(1, 0)));
    expect(sum(colourOf(0, 1, 1))).toBeLessThan(sum(colourOf(0, 1)));
  });

  it('stay within 0 to 255 for amounts of stain far outside the range of tissue', () => {
    expect(Math.max(...colourOf(5, 5))).toBeLessThan(4); // almost black
    expect(colourOf(-0.2, -0.2)).toEqual([...GLASS]);
  });
});

describe('renderRgb (computes pixels from amounts of stain)', () => {
  it('blurs a tile of 5 × 5 pixels by one pixel, and writes only its inner 3 × 3 pixels', () => {
    const tile = emptyStainTile(0, 0, 5);
    tile.haematoxylin[2 * 5 + 2] = 2;
    const picture = new Uint8Array(3 * 3 * 3);
    renderRgb(tile, picture, 0, 9);
    const green = [0, 1, 2, 3, 4, 5, 6, 7, 8].map((pixel) => picture[pixel * 3 + 1] as number);
    expect(green[4]).toBeLessThan(green[1] as number);
    expect(green[1]).toBeLessThan(green[0] as number);
    expect(green[0]).toBeLessThan(GLASS[1]);
  });

  it('writes only into the part of a larger image that the parameters start and stride select', () => {
    const picture = new Uint8Array(4 * 4 * 3);
    // The result has 2 × 2 pixels; it goes to column 1, row 1 of an image of 4 × 4 pixels.
    renderRgb(emptyStainTile(0, 0, 4), picture, (4 + 1) * 3, 12);
    expect([...picture.subarray(0, 15)]).toEqual(new Array(15).fill(0));
    expect([...picture.subarray(15, 21)]).toEqual([...GLASS, ...GLASS]);
  });
});
