/**
 * The results of a demonstration slide, as a program that finds immune cells would write them: the outlines of their nuclei
 * and a heatmap of their density. The generator knows where it has drawn them, so nothing is guessed.
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
  // Okabe and Ito, distinguishable with every form of colour vision.
  Lymphocyte: [0, 114, 178],
  'Plasma cell': [230, 159, 0],
  Eosinophil: [213, 94, 0],
  'Follicle centre cell': [0, 158, 115],
};

/** Corners of an outline. */
const corners = 12;
/** Share of the darkest haematoxylin of a stamp that belongs to the nucleus. */
const nucleusShare = 0.45;
/** Haematoxylin at the centre of a nucleus that nothing has been drawn over. */
const leastStain = 0.35;
/** Side of a pixel of the heatmap, in pixels of the slide: 64 µm. */
const binSide = 256;

/**
 * Tells whether the nucleus of a cell lies in a tile, and is visible after everything has been drawn.
 *
 * @param margin pixels of the tile that belong to its neighbours
 */
export function isVisible({ x, y, size, haematoxylin }: StainTile, cell: DrawnCell, margin: number): boolean {
  const [centreX, centreY] = toSlide(cell, nucleusOf(cell.stamp).centre);
  const [column, row] = [Math.floor(centreX - x), Math.floor(centreY - y)];
  if (Math.min(column, row) < margin || Math.max(column, row) >= size - margin) return false;
  return (haematoxylin[row * size + column] as number) > leastStain * cell.density * cell.opacity;
}

/** Returns the outlines as GeoJSON of QuPath, compressed. @param part of the slide that the file shows */
export async function cellsFile(cells: readonly DrawnCell[], part: Rectangle): Promise<Uint8Array> {
  const features = cells.map((cell) => {
    const ring = nucleusOf(cell.stamp).outline.map((point) => toSlide(cell, point));
    const [first] = ring;
    const placed = [...ring, first as Point].map(([x, y]) => [rounded(x - part.x), rounded(y - part.y)]);
    return JSON.stringify({
      type: 'Feature',
      geometry: { type: 'Polygon', coordinates: [placed] },
      properties: {
        objectType: 'detection',
        classification: { name: cell.name, color: colours[cell.name] },
        measurements: { 'Area µm²': rounded(areaOf(ring) * MICRONS_PER_PIXEL ** 2) },
      },
    });
  });
  return await promisify(gzip)(`{"type":"FeatureCollection","features":[\n${features.join(',\n')}\n]}\n`);
}

/** Returns immune cells per mm² as a TIFF of 16 bits that covers the part. */
export async function heatmapFile(cells: readonly DrawnCell[], part: Rectangle): Promise<Uint8Array> {
  const [width, height] = [Math.ceil(part.width / binSide), Math.ceil(part.height / binSide)];
  const counts = new Float32Array(width * height);
  for (const { x, y } of cells) {
    const column = Math.floor(((x - part.x) / part.width) * width);
    const row = Math.floor(((y - part.y) / part.height) * height);
    if (column < 0 || row < 0 || column >= width || row >= height) continue;
    counts[row * width + column] = (counts[row * width + column] as number) + 1;
  }
  const binArea = ((part.width / width) * (part.height / height) * MICRONS_PER_PIXEL ** 2) / 1e6;
  const values = Uint16Array.from(smoothed(counts, width, height), (count) => Math.round(count / binArea));
  return await sharp(values, { raw: { width, height, channels: 1 } })
    .toColourspace('grey16')
    .tiff({ compression: 'deflate' })
    .toBuffer();
}

/** Returns the mean of each value and its neighbours, where the closer ones count more. */
function smoothed(values: Float32Array, width: number, height: number): Float32Array {
  return Float32Array.from(values, (_, at) => {
    const [column, row] = [at % width, Math.floor(at / width)];
    let [sum, weights] = [0, 0];
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
  /** Relative to the centre of the stamp. */
  readonly centre: Point;
  readonly outline: readonly Point[];
}

const nuclei = new WeakMap<Stamp, Nucleus>();

function nucleusOf(stamp: Stamp): Nucleus {
  const known = nuclei.get(stamp);
  if (known !== undefined) return known;
  const found = traceNucleus(stamp);
  nuclei.set(stamp, found);
  return found;
}

/** Follows rays from the middle of the dark pixels to the last dark one. */
function traceNucleus({ width, height, values }: Stamp): Nucleus {
  let most = 0;
  for (let at = 1; at < values.length; at += 4) most = Math.max(most, values[at] as number);
  const isDark = (x: number, y: number) => {
    const [column, row] = [Math.floor(x), Math.floor(y)];
    if (column < 0 || row < 0 || column >= width || row >= height) return false;
    return (values[(row * width + column) * 4 + 1] as number) > nucleusShare * most;
  };
  let [sumX, sumY, count] = [0, 0, 0];
  for (let y = 0; y < height; y++) {
    for (let x = 0; x < width; x++) {
      if (!isDark(x, y)) continue;
      sumX += x + 0.5;
      sumY += y + 0.5;
      count += 1;
    }
  }
  const [middleX, middleY] = [sumX / count, sumY / count];
  const outline = Array.from({ length: corners }, (_, corner): Point => {
    const angle = (corner / corners) * 2 * Math.PI;
    let last = 1;
    for (let radius = 1; radius < Math.max(width, height) / 2; radius += 0.5) {
      if (isDark(middleX + Math.cos(angle) * radius, middleY + Math.sin(angle) * radius)) last = radius;
    }
    return [middleX + Math.cos(angle) * last - width / 2, middleY + Math.sin(angle) * last - height / 2];
  });
  return { centre: [middleX - width / 2, middleY - height / 2], outline };
}

function toSlide({ x, y, angle, scale }: Placement, [alongX, alongY]: Point): Point {
  const [cos, sin] = [Math.cos(angle) * scale, Math.sin(angle) * scale];
  return [x + alongX * cos - alongY * sin, y + alongX * sin + alongY * cos];
}

function areaOf(ring: readonly Point[]): number {
  const doubled = ring.reduce((sum, [x, y], at) => {
    const [nextX, nextY] = ring[(at + 1) % ring.length] as Point;
    return sum + x * nextY - nextX * y;
  }, 0);
  return Math.abs(doubled) / 2;
}

/** A tenth of a pixel. */
const rounded = (value: number) => Math.round(value * 10) / 10;
