/** The wand: outlines the pixels around a place that are connected and of a similar colour, as the view shows them. */
import { type AreaGeometry, type Position, signedArea, simplifyGeometry } from '@lamina/annotations';
import { type Placement, type Point, toImage, zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';

export interface Pixels {
  /** Four bytes per pixel. */
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** Side of the squares of CSS pixels whose mean colours are compared: single pixels of tissue differ too much. */
const cssPixelsPerCell = 4;
/** Distance of two colours as bytes, in each of the three channels together. */
const tolerance = 44;
/** Cells. Smaller holes are filled. */
const leastHole = 30;

/** Returns the region around a place of the view; null beside the slide. */
export function wandRegion(
  view: Pick<SlideView, 'picture' | 'placement'>,
  { x, y }: Point,
): AreaGeometry | null {
  const [picture, placement] = [view.picture(), view.placement()];
  if (picture === null || placement === null) return null;
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(picture.width / cssPixelsPerCell);
  canvas.height = Math.round(picture.height / cssPixelsPerCell);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return null;
  context.imageSmoothingQuality = 'high';
  context.drawImage(picture.canvas, 0, 0, canvas.width, canvas.height);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  const rings = outlineRegion(pixels, Math.floor(x / cssPixelsPerCell), Math.floor(y / cssPixelsPerCell));
  return rings === null ? null : toGeometry(rings, placement);
}

function toGeometry(rings: readonly (readonly Position[])[], placement: Placement): AreaGeometry {
  const coordinates = rings.map((ring) =>
    ring.map(([x, y]): Position => {
      const at = toImage(placement, { x: x * cssPixelsPerCell, y: y * cssPixelsPerCell });
      return [at.x, at.y];
    }),
  );
  const geometry: AreaGeometry = { type: 'Polygon', coordinates };
  // The steps of the cells disappear.
  const simplified = simplifyGeometry(geometry, cssPixelsPerCell / 2 / zoomOf(placement));
  return simplified.type === 'Polygon' || simplified.type === 'MultiPolygon' ? simplified : geometry;
}

/**
 * Returns closed rings around the connected pixels of similar colour: the outer one first, then holes.
 *
 * @returns null beside the picture, and where it is transparent
 */
export function outlineRegion(pixels: Pixels, x: number, y: number): readonly (readonly Position[])[] | null {
  const { data, width, height } = pixels;
  if (x < 0 || y < 0 || x >= width || y >= height || data[4 * (y * width + x) + 3] !== 255) return null;
  const rings = ringsOf(flood(pixels, y * width + x), width, height).sort(
    (a, b) => Math.abs(signedArea(b)) - Math.abs(signedArea(a)),
  );
  return rings.filter((ring, index) => index === 0 || Math.abs(signedArea(ring)) >= leastHole);
}

/** Returns 1 for each pixel of the region. */
function flood({ data, width, height }: Pixels, start: number): Uint8Array {
  const region = new Uint8Array(width * height);
  const [red = 0, green = 0, blue = 0] = data.subarray(4 * start, 4 * start + 3);
  const isSimilar = (index: number) => {
    const at = 4 * index;
    const [r = 0, g = 0, b = 0, alpha] = [data[at], data[at + 1], data[at + 2], data[at + 3]];
    return alpha === 255 && (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2 <= tolerance ** 2;
  };
  const open = [start];
  region[start] = 1;
  for (let index = open.pop(); index !== undefined; index = open.pop()) {
    const column = index % width;
    const neighbours = [
      column > 0 ? index - 1 : -1,
      column < width - 1 ? index + 1 : -1,
      index - width,
      index + width,
    ];
    for (const next of neighbours) {
      if (next < 0 || next >= region.length || region[next] === 1 || !isSimilar(next)) continue;
      region[next] = 1;
      open.push(next);
    }
  }
  return region;
}

type Direction = 0 | 1 | 2 | 3;
/** Right, down, left, up: the edges of a pixel clockwise. */
const steps = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

/** Follows the edges between pixels inside and outside, with the inside on the right. */
function ringsOf(region: Uint8Array, width: number, height: number): Position[][] {
  const isInside = (x: number, y: number) =>
    x >= 0 && y >= 0 && x < width && y < height && region[y * width + x] === 1;
  /** Whether an edge leads from a corner in a direction: the pixel on its right is inside, the one on its left is not. */
  const hasEdge = (x: number, y: number, direction: Direction) => {
    const [right, left] = (
      [
        [
          [x, y],
          [x, y - 1],
        ],
        [
          [x - 1, y],
          [x, y],
        ],
        [
          [x - 1, y - 1],
          [x - 1, y],
        ],
        [
          [x, y - 1],
          [x - 1, y - 1],
        ],
      ] as const
    )[direction];
    return isInside(...right) && !isInside(...left);
  };
  const used = new Uint8Array((width + 1) * (height + 1));
  const rings: Position[][] = [];
  for (let y = 0; y <= height; y++) {
    for (let x = 0; x <= width; x++) {
      // Each ring has an edge to the right: with the region below it.
      if (hasEdge(x, y, 0) && (used[y * (width + 1) + x] ?? 0) === 0) rings.push(follow(x, y));
    }
  }
  return rings;

  function follow(startX: number, startY: number): Position[] {
    const ring: Position[] = [];
    let [x, y] = [startX, startY];
    let direction: Direction = 0;
    do {
      if (direction === 0) used[y * (width + 1) + x] = 1;
      ring.push([x, y]);
      x += steps[direction][0];
      y += steps[direction][1];
      // A right turn stays with the same pixel, where two pixels touch in a corner only.
      const turns = [1, 0, 3].map((turn) => ((direction + turn) % 4) as Direction);
      direction = turns.find((turn) => hasEdge(x, y, turn)) ?? direction;
    } while (x !== startX || y !== startY || direction !== 0);
    const [first] = ring;
    const corners = ring.filter((point, index) => isCorner(ring, point, index));
    return [...corners, ...(corners[0] ? [corners[0]] : first ? [first] : [])];
  }
}

function isCorner(ring: readonly Position[], [x, y]: Position, index: number): boolean {
  const [beforeX, beforeY] = ring.at(index - 1) ?? [x, y];
  const [afterX, afterY] = ring[(index + 1) % ring.length] ?? [x, y];
  return (x - beforeX) * (afterY - y) !== (y - beforeY) * (afterX - x);
}
