/**
 * The results of a demonstration slide, as from a program that detects immune cells: outlines of their nuclei and a heatmap of their
 * density. The results are exact, because the program that draws the slide reports every immune cell that it draws.
 */
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import sharp from 'sharp';
import type { StainTile } from '../stain/stain.ts';
import type { Placement, Stamp } from '../stain/stamp.ts';
import type { DrawnCell, ImmuneClass } from '../structures/drawn-cell.ts';
import { MICRONS_PER_PIXEL } from '../structures/palette.ts';

interface Rectangle {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

const colours: Readonly<Record<ImmuneClass, readonly [number, number, number]>> = {
  // From the palette of Okabe and Ito, whose colours people with colour vision deficiencies can distinguish.
  Lymphocyte: [0, 114, 178],
  'Plasma cell': [230, 159, 0],
  Eosinophil: [213, 94, 0],
  'Follicle centre cell': [0, 158, 115],
};

const cornersPerOutline = 12;
/** A pixel of a stamp (cell image) with more than this share of the maximum haematoxylin belongs to the nucleus. */
const nucleusThreshold = 0.45;
/** Minimum haematoxylin at the centre of a visible nucleus if the density and opacity of the cell are 1. */
const minVisibleStain = 0.35;
/** Approximate side of a heatmap pixel in pixels of the slide; 64 µm. */
const binSide = 256;

/**
 * Returns whether the centre of a cell's nucleus lies in a tile and is visible after the whole tile has been drawn.
 *
 * @param margin pixels at each edge of the tile that belong to the adjacent tiles
 */
export function isVisible({ x, y, size, haematoxylin }: StainTile, cell: DrawnCell, margin: number): boolean {
  const [centreX, centreY] = toSlide(cell, nucleusOf(cell.stamp).centre);
  const [column, row] = [Math.floor(centreX - x), Math.floor(centreY - y)];
  if (Math.min(column, row) < margin || Math.max(column, row) >= size - margin) return false;
  return (haematoxylin[row * size + column] as number) > minVisibleStain * cell.density * cell.opacity;
}

/** Returns the outlines as gzipped GeoJSON, as QuPath writes it. @param part the part of the slide that the file shows */
export async function encodeCellsFile(cells: readonly DrawnCell[], part: Rectangle): Promise<Uint8Array> {
  const features = cells.map((cell) => {
    const ring = nucleusOf(cell.stamp).outline.map((point) => toSlide(cell, point));
    const [first] = ring;
    // GeoJSON repeats the first corner of a ring at its end.
    const coordinates = [...ring, first as Point].map(([x, y]) => [
      roundToTenth(x - part.x),
      roundToTenth(y - part.y),
    ]);
    return JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: [coordinates] },
      properties: {
        objectType: 'detection',
        classification: { name: cell.immuneClass, color: colours[cell.immuneClass] },
        measurements: { 'Area µm²': roundToTenth(areaOf(ring) * MICRONS_PER_PIXEL ** 2) },
      },
    });
  });
  return await promisify(gzip)(`{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}\n`);
}

/** Returns a TIFF of 16 bits that covers exactly the part; its values are the immune cells per mm², smoothed. */
export async function encodeHeatmapFile(cells: readonly DrawnCell[], part: Rectangle): Promise<Uint8Array> {
  const [width, height] = [Math.ceil(part.width / binSide), Math.ceil(part.height / binSide)];
  const counts = new Float32Array(width * height);
  for (const { x, y } of cells) {
    const column = Math.floor(((x - part.x) / part.width) * width);
    const row = Math.floor(((y - part.y) / part.height) * height);
    if (column < 0 || row < 0 || column >= width || row >= height) continue;
    counts[row * width + column] = (counts[row * width + column] as number) + 1;
  }
  const binAreaMm2 = ((part.width / width) * (part.height / height) * MICRONS_PER_PIXEL ** 2) / 1e6;
  const values = Uint16Array.from(blur(counts, width, height), (count) => Math.round(count / binAreaMm2));
  return await sharp(values, { raw: { width, height, channels: 1 } })
    .toColourspace('grey16')
    .tiff({ compression: 'deflate' })
    .toBuffer();
}

/** Returns the values blurred by a binomial kernel of 3 × 3. */
function blur(values: Float32Array, width: number, height: number): Float32Array {
  return Float32Array.from(values, (_, index) => {
    const column = index % width;
    const row = Math.floor(index / width);
    let sum = 0;
    let weights = 0;
    for (let y = Math.max(0, row - 1); y <= Math.min(height - 1, row + 1); y++) {
      for (let x = Math.max(0, column - 1); x <= Math.min(width - 1, column + 1); x++) {
        const weight = (x === column ? 2 : 1) * (y === row ? 2 : 1);
        sum += weight * (values[y * width + x] as number);
        weights += weight;
      }
    }
    return sum / weights;
  });
}

type Point = readonly [x: number, y: number];

interface Nucleus {
  /** Positions in pixels relative to the centre of the stamp. */
  readonly centre: Point;
  readonly outline: readonly Point[];
}

/** Cache of `nucleusOf`: many cells share a stamp. */
const nucleusByStamp = new WeakMap<Stamp, Nucleus>();

function nucleusOf(stamp: Stamp): Nucleus {
  const cached = nucleusByStamp.get(stamp);
  if (cached !== undefined) return cached;
  const nucleus = traceNucleus(stamp);
  nucleusByStamp.set(stamp, nucleus);
  return nucleus;
}

/** Finds the outline of the dark pixels of a stamp: each corner is the last dark position on a ray from their centre. */
function traceNucleus({ width, height, values }: Stamp): Nucleus {
  // The haematoxylin of a pixel is the second of its four values.
  let maxHaematoxylin = 0;
  for (let i = 1; i < values.length; i += 4) maxHaematoxylin = Math.max(maxHaematoxylin, values[i] as number);
  const isDark = (x: number, y: number) => {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    if (column < 0 || row < 0 || column >= width || row >= height) return false;
    return (values[(row * width + column) * 4 + 1] as number) > nucleusThreshold * maxHaematoxylin;
  };
  let sumX = 0;
  let sumY = 0;
  let count = 0;
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isDark(x, y)) continue;
      sumX += x + 0.5;
      sumY += y + 0.5;
      count += 1;
    }
  }
  const [middleX, middleY] = [sumX / count, sumY / count];
  const outline = Array.from({ length: cornersPerOutline }, (_, corner): Point => {
    const angle = (corner / cornersPerOutline) * 2 * Math.PI;
    let lastDarkRadius = 1;
    for (let radius = 1; radius < Math.max(width, height) / 2; radius += 0.5) {
      if (isDark(middleX + Math.cos(angle) * radius, middleY + Math.sin(angle) * radius))
        lastDarkRadius = radius;
    }
    const [x, y] = [middleX + Math.cos(angle) * lastDarkRadius, middleY + Math.sin(angle) * lastDarkRadius];
    return [x - width / 2, y - height / 2];
  });
  return { centre: [middleX - width / 2, middleY - height / 2], outline };
}

/** Converts a position relative to the centre of a stamp to a position on the slide. */
function toSlide({ x, y, angle, scale }: Placement, [alongX, alongY]: Point): Point {
  const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
  return [x + alongX * cos - alongY * sin, y + alongX * sin + alongY * cos];
}

/** Returns the area of a polygon in square pixels (shoelace formula). */
function areaOf(ring: readonly Point[]): number {
  const doubleArea = ring.reduce((sum, [x, y], index) => {
    const [nextX, nextY] = ring[(index + 1) % ring.length] as Point;
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(doubleArea) / 2;
}

const roundToTenth = (value: number) => Math.round(value * 10) / 10;
