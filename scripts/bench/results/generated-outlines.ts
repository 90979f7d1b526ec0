/**
 * Generated outlines of cells with two measurements, in rows from top to bottom, as analysis programs write them. The outlines depend
 * only on their number and the size of the slide.
 */
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { randomFrom } from '../load/random.ts';

export interface Size {
  readonly width: number;
  readonly height: number;
}

interface Outline {
  /** Positions in pixels of full resolution, without the closing position. */
  readonly positions: readonly (readonly [x: number, y: number])[];
  /** Index into `classNames`. */
  readonly classIndex: number;
  readonly radius: number; // mean, in pixels of full resolution
  readonly score: number; // 0 to 1
}

/** The centre and class of each outline, computed from the generated positions, for comparison with an imported layer. */
export interface Centres {
  readonly x: Float64Array;
  readonly y: Float64Array;
  readonly classIndexes: Uint8Array;
}

/** Vertices of each outline. */
const vertices = 20;
export const classNames = ['Tumor', 'Stroma', 'Lymphocyte', 'Mitosis'] as const;

/** Yields `count` outlines in a grid that fills the slide, row by row. Each lies at a random place of its square. */
function* outlinesOf(count: number, { width, height }: Size): Generator<Outline> {
  const random = randomFrom(7); // a fixed seed: the same outlines in every run
  const perRow = Math.ceil(Math.sqrt((count * width) / height));
  const step = width / perRow;
  const roundToHundredths = (value: number) => Math.round(value * 100) / 100;
  for (let n = 0; n < count; n++) {
    const x = ((n % perRow) + random()) * step;
    const y = (Math.floor(n / perRow) + random()) * step;
    const radius = 8 + 8 * random();
    const positions = Array.from({ length: vertices }, (_, i) => {
      const angle = (2 * Math.PI * i) / vertices;
      const distance = radius * (0.8 + 0.4 * random());
      return [
        roundToHundredths(x + distance * Math.cos(angle)),
        roundToHundredths(y + distance * Math.sin(angle)),
      ] as const;
    });
    const classIndex = Math.floor(random() * classNames.length);
    yield { positions, classIndex, radius, score: random() };
  }
}

/** Writes a GeoJSON file of cells as QuPath exports it. The measurement Area is an approximation. */
export async function writeOutlines(file: string, count: number, slide: Size): Promise<void> {
  const stream = createWriteStream(file, { highWaterMark: 2 ** 20 });
  stream.write('{"type":"FeatureCollection","features":[');
  let separator = '';
  for (const { positions, classIndex, radius, score } of outlinesOf(count, slide)) {
    const ring = [...positions, ...positions.slice(0, 1)].map(([x, y]) => `[${x},${y}]`).join();
    const text = `${separator}{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[${ring}]]},"properties":{"objectType":"cell","classification":{"name":"${classNames[classIndex]}","color":[200,0,0]},"measurements":{"Area":${(radius * radius * 3).toFixed(2)},"Score":${score.toFixed(3)}}}}`;
    separator = ',';
    if (!stream.write(text)) await once(stream, 'drain');
  }
  stream.end(']}');
  await finished(stream);
}

/** Returns the centres of the outlines that `writeOutlines` writes. */
export function centresOf(count: number, slide: Size): Centres {
  const centres = {
    x: new Float64Array(count),
    y: new Float64Array(count),
    classIndexes: new Uint8Array(count),
  };
  let n = 0;
  for (const { positions, classIndex } of outlinesOf(count, slide)) {
    const [x, y] = centroidOf(positions);
    centres.x[n] = x;
    centres.y[n] = y;
    centres.classIndexes[n] = classIndex;
    n++;
  }
  return centres;
}

/** Returns the centroid of a polygon. Computes relative to the polygon's first position, because large coordinates would lose digits. */
function centroidOf(positions: Outline['positions']): readonly [x: number, y: number] {
  const [originX, originY] = positions[0] ?? [0, 0];
  let doubleArea = 0;
  let x = 0;
  let y = 0;
  for (const [i, [currentX, currentY]] of positions.entries()) {
    const [previousX, previousY] = positions.at(i - 1) ?? [0, 0]; // before the first: the last
    const [ax, ay] = [previousX - originX, previousY - originY];
    const [bx, by] = [currentX - originX, currentY - originY];
    const cross = ax * by - bx * ay;
    doubleArea += cross;
    x += (ax + bx) * cross;
    y += (ay + by) * cross;
  }
  return [originX + x / (3 * doubleArea), originY + y / (3 * doubleArea)];
}
