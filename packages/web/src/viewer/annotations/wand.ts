/**
 * The wand tool: outlines the connected region of similar colour around a point, in the picture that the view draws. The
 * tool reduces the picture to cells of 4 × 4 CSS pixels, flood-fills the region from the point, and converts the outline
 * to image pixels.
 */
import { type AreaGeometry, type Position, signedArea, simplifyGeometry } from '@lamina/annotations';
import { type Placement, type Point, toImage, zoomOf } from '../overlay/placement.ts';
import type { SlideView } from '../slide-view.ts';

/** The pixels of a picture, such as an `ImageData`. */
export interface Pixels {
  /** Red, green, blue and alpha of each pixel, row by row. */
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** Side of a cell in CSS pixels. The mean colours of cells are compared, because single pixels of tissue differ too much. */
const cssPixelsPerCell = 4;
/** Cells within this Euclidean distance of the colour of the first cell have a similar colour; channels are from 0 to 255. */
const colourTolerance = 44;
/** Holes with fewer cells are filled. */
const minHoleCells = 30;

/** Returns the region around a point (in CSS pixels) as an area in image pixels; null outside the slide, and before it is open. */
export function wandRegion(
  view: Pick<SlideView, 'picture' | 'placement'>,
  { x, y }: Point,
): AreaGeometry | null {
  const picture = view.picture();
  const placement = view.placement(); // converts image pixels to CSS pixels
  if (picture === null || placement === null) return null;
  // `picture` has a size in CSS pixels and a canvas in device pixels.
  const canvas = document.createElement('canvas');
  canvas.width = Math.round(picture.width / cssPixelsPerCell);
  canvas.height = Math.round(picture.height / cssPixelsPerCell);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (context === null) return null;
  context.imageSmoothingQuality = 'high'; // averages the pixels of each cell
  context.drawImage(picture.canvas, 0, 0, canvas.width, canvas.height);
  const pixels = context.getImageData(0, 0, canvas.width, canvas.height);
  // Each pixel of the reduced picture is a cell.
  const rings = outlineRegion(pixels, Math.floor(x / cssPixelsPerCell), Math.floor(y / cssPixelsPerCell));
  return rings === null ? null : toGeometry(rings, placement);
}

/** Converts rings in cells to a smooth area in image pixels. */
function toGeometry(rings: readonly (readonly Position[])[], placement: Placement): AreaGeometry {
  const coordinates = rings.map((ring) =>
    ring.map(([x, y]): Position => {
      const corner = toImage(placement, { x: x * cssPixelsPerCell, y: y * cssPixelsPerCell });
      return [corner.x, corner.y];
    }),
  );
  const geometry: AreaGeometry = { type: 'Polygon', coordinates };
  // The outline runs in steps along the cells; simplifying by half a cell makes it smooth.
  const simplified = simplifyGeometry(geometry, cssPixelsPerCell / 2 / zoomOf(placement));
  return simplified.type === 'Polygon' || simplified.type === 'MultiPolygon' ? simplified : geometry;
}

/**
 * Returns closed rings around the connected pixels of similar colour: the outer ring first, then the rings of holes. Returns null for
 * a start outside the picture or on a transparent pixel.
 *
 * @param x column of the pixel in which the region starts
 * @param y row of this pixel
 */
export function outlineRegion(pixels: Pixels, x: number, y: number): readonly (readonly Position[])[] | null {
  const { data, width, height } = pixels;
  if (x < 0 || y < 0 || x >= width || y >= height) return null;
  const start = y * width + x;
  const alpha = data[4 * start + 3];
  if (alpha !== 255) return null;
  // The largest ring is the outer one; the others are holes.
  const rings = ringsOf(floodFill(pixels, start), width, height).sort(
    (a, b) => Math.abs(signedArea(b)) - Math.abs(signedArea(a)),
  );
  return rings.filter((ring, index) => index === 0 || Math.abs(signedArea(ring)) >= minHoleCells);
}

/** Returns a mask with 1 for each pixel that is connected to the start and has a similar colour. @param start index of a pixel */
function floodFill({ data, width, height }: Pixels, start: number): Uint8Array {
  const region = new Uint8Array(width * height);
  const [red = 0, green = 0, blue = 0] = data.subarray(4 * start, 4 * start + 3);
  const isSimilar = (index: number) => {
    const offset = 4 * index;
    const [r = 0, g = 0, b = 0, alpha] = [data[offset], data[offset + 1], data[offset + 2], data[offset + 3]];
    return alpha === 255 && (r - red) ** 2 + (g - green) ** 2 + (b - blue) ** 2 <= colourTolerance ** 2;
  };
  const toVisit = [start];
  region[start] = 1;
  for (let index = toVisit.pop(); index !== undefined; index = toVisit.pop()) {
    const column = index % width;
    // Negative for a neighbour beyond the left, right or upper edge.
    const neighbours = [
      column > 0 ? index - 1 : -1,
      column < width - 1 ? index + 1 : -1,
      index - width,
      index + width,
    ];
    for (const next of neighbours) {
      if (next < 0 || next >= region.length || region[next] === 1 || !isSimilar(next)) continue;
      region[next] = 1;
      toVisit.push(next);
    }
  }
  return region;
}

/** 0 right, 1 down, 2 left, 3 up: the directions of the edges of a pixel, followed clockwise. */
type Direction = 0 | 1 | 2 | 3;
/** Changes of direction, as numbers of quarter turns clockwise. */
const turns = { right: 1, none: 0, left: 3 } as const;
/** Step along x and y for each direction. */
const stepOfDirection = [
  [1, 0],
  [0, 1],
  [-1, 0],
  [0, -1],
] as const;

/**
 * For each direction: the pixels to the right and left of the edge that leads from a corner in this direction, relative to the
 * corner. The corner (x, y) is the top left one of the pixel (x, y).
 */
const sidesOfEdge = [
  { right: [0, 0], left: [0, -1] },
  { right: [-1, 0], left: [0, 0] },
  { right: [-1, -1], left: [-1, 0] },
  { right: [0, -1], left: [-1, -1] },
] as const;

/** Returns the rings along the edges between pixels inside and outside the region, with the inside on the right. */
function ringsOf(region: Uint8Array, width: number, height: number): Position[][] {
  const isInside = (x: number, y: number) =>
    x >= 0 && y >= 0 && x < width && y < height && region[y * width + x] === 1;
  /** Whether an edge leads from a corner in a direction: the pixel on its right is inside, the one on its left is not. */
  const hasEdge = (x: number, y: number, direction: Direction) => {
    const { right, left } = sidesOfEdge[direction];
    return isInside(x + right[0], y + right[1]) && !isInside(x + left[0], y + left[1]);
  };
  /** Contains 1 for each corner whose edge to the right already belongs to a ring. */
  const usedCorners = new Uint8Array((width + 1) * (height + 1));
  const rings: Position[][] = [];
  for (let y = 0; y <= height; y++) {
    for (let x = 0; x <= width; x++) {
      // Every ring contains at least one edge that leads to the right, with the region below.
      if (hasEdge(x, y, 0) && (usedCorners[y * (width + 1) + x] ?? 0) === 0) rings.push(followRing(x, y));
    }
  }
  return rings;

  /** Returns the corners of the closed ring that starts with the edge to the right of a corner. */
  function followRing(startX: number, startY: number): Position[] {
    const ring: Position[] = [];
    let [x, y] = [startX, startY];
    let direction: Direction = 0;
    do {
      if (direction === 0) usedCorners[y * (width + 1) + x] = 1;
      ring.push([x, y]);
      x += stepOfDirection[direction][0];
      y += stepOfDirection[direction][1];
      // Where two pixels touch only at a corner, turning right first stays with the same pixel.
      const candidates = [turns.right, turns.none, turns.left].map(
        (turn) => ((direction + turn) % 4) as Direction,
      );
      direction = candidates.find((candidate) => hasEdge(x, y, candidate)) ?? direction;
    } while (x !== startX || y !== startY || direction !== 0);
    const corners = ring.filter((point, index) => isCorner(ring, point, index));
    const first = corners[0] ?? ring[0];
    return first === undefined ? corners : [...corners, first];
  }
}

/** Whether the ring changes its direction at this position. */
function isCorner(ring: readonly Position[], [x, y]: Position, index: number): boolean {
  const [beforeX, beforeY] = ring.at(index - 1) ?? [x, y];
  const [afterX, afterY] = ring[(index + 1) % ring.length] ?? [x, y];
  return (x - beforeX) * (afterY - y) !== (y - beforeY) * (afterX - x);
}
