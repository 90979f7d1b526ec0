/** Computes where the tiles of a view are drawn on the canvas, for the drawers with and without WebGL. */
import OpenSeadragon from 'openseadragon';
import { type Placement, placementOf, toScreen } from '../overlay/placement.ts';
import { exactPlacement } from './exact-placement.ts';
import type { TilePicture, TilePictures } from './tile-pictures.ts';

/** Where the slide is on the canvas in one frame. */
export interface CanvasView {
  /** Converts image pixels at full resolution to pixels of the canvas. */
  readonly placement: Placement;
  /** Size of the canvas in device pixels. */
  readonly width: number;
  readonly height: number;
  /** Device pixels per CSS pixel. */
  readonly pixelRatio: number;
  /** Whether each image pixel lies exactly on one device pixel. */
  readonly isExact: boolean;
}

/** A tile, or a part of a tile, on the canvas: four corners and the image between them. */
export interface Quad {
  /** The tile, whose decoded pixels may have been evicted from memory. */
  readonly picture: TilePicture;
  /**
   * x and y in device pixels of the tile's corners: top left, top right, bottom left, bottom right before rotation and mirroring.
   */
  readonly corners: readonly number[];
  /** The part of the picture that is drawn, as fractions of its width and height from 0 to 1. */
  readonly part: readonly [left: number, top: number, right: number, bottom: number];
  /** 0 to 1; below 1 while the tile fades in. */
  readonly opacity: number;
  /** Whether each pixel of the tile lies exactly on one device pixel. */
  readonly isExact: boolean;
}

/**
 * Number of steps per device pixel to which corners are rounded (1/256 pixel), as the rasteriser of the graphics card
 * rounds them. Neighbouring tiles then have equal corners, and no gaps between them.
 */
const subpixelSteps = 256;

/**
 * Returns where the slide is on the canvas now. At native magnification (one image pixel per device pixel), the function
 * moves the slide by less than a pixel, so that image pixels lie on device pixels and are drawn unchanged.
 *
 * @param canvas size in device pixels
 */
export function canvasViewOf(
  image: OpenSeadragon.TiledImage,
  viewport: OpenSeadragon.Viewport,
  canvas: { readonly width: number; readonly height: number },
): CanvasView {
  const pixelRatio = OpenSeadragon.pixelDensityRatio;
  const { x: width, y: height } = image.getContentSize();
  const isFlipped = viewport.getFlip();
  const containerWidth = viewport.getContainerSize().x;
  /** Converts image pixels to canvas pixels at this moment (`true`), not at the end of a movement. `pixelFromPoint` does not mirror. */
  const canvasPointOf = (x: number, y: number) => {
    const pixel = viewport.pixelFromPoint(image.imageToViewportCoordinates(x, y, true), true);
    return { x: (isFlipped ? containerWidth - pixel.x : pixel.x) * pixelRatio, y: pixel.y * pixelRatio };
  };
  const placement = placementOf(
    { width, height },
    canvasPointOf(0, 0),
    canvasPointOf(width, 0),
    canvasPointOf(0, height),
  );
  const aligned = exactPlacement(placement, canvas); // null at other magnifications and oblique rotations
  return { placement: aligned ?? placement, ...canvas, pixelRatio, isExact: aligned !== null };
}

/** Rectangle in image pixels at full resolution. */
interface Area {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/**
 * Returns the quads of a slide, coarse levels first. In place of a tile that the drawer cannot draw now, it returns a part of a
 * coarser tile.
 *
 * @param isReady returns whether the drawer can draw a picture now, because its pixels are in memory
 * @param onMissing called for each tile for which `isReady` returns false
 */
export function quadsOf(
  image: OpenSeadragon.TiledImage,
  view: CanvasView,
  pictures: TilePictures,
  isReady: (picture: TilePicture) => boolean,
  onMissing: (picture: TilePicture) => void,
): Quad[] {
  const quads: Quad[] = [];
  for (const { tile } of image.getTilesToDraw()) {
    const picture = pictureOf(tile);
    if (picture === null) continue;
    pictures.touch(picture); // protects it from eviction in this frame
    const area = areaOf(image.source, picture);
    const corners = cornersOf(view.placement, area);
    const opacity = tile.opacity ?? 1;
    if (isReady(picture)) {
      const isExact = view.isExact && picture.place.level === image.source.maxLevel;
      quads.push({ picture, corners, part: [0, 0, 1, 1], opacity, isExact });
      continue;
    }
    onMissing(picture);
    const coarser = ancestorOf(image.source, picture, pictures, isReady);
    if (coarser === null) continue;
    pictures.touch(coarser);
    const part = partOf(areaOf(image.source, coarser), area);
    quads.push({ picture: coarser, corners, part, opacity, isExact: false });
  }
  return quads;
}

/** Returns the picture that OpenSeadragon's cache holds for a tile; null before the tile is loaded. */
function pictureOf(tile: OpenSeadragon.Tile): TilePicture | null {
  if (!tile.loaded) return null;
  const data: unknown = tile.getCache(tile.cacheKey)?.data;
  return typeof data === 'object' && data !== null && 'blob' in data ? (data as TilePicture) : null;
}

/** Returns the finest coarser tile that contains a tile and can be drawn now; null if there is none. */
function ancestorOf(
  source: OpenSeadragon.TileSource,
  { place }: TilePicture,
  pictures: TilePictures,
  isReady: (picture: TilePicture) => boolean,
): TilePicture | null {
  for (let levelDifference = 1; place.level - levelDifference >= source.minLevel; levelDifference += 1) {
    // Each coarser level has half as many columns and rows.
    const url = source.getTileUrl(
      place.level - levelDifference,
      place.column >> levelDifference,
      place.row >> levelDifference,
    );
    const picture = typeof url === 'string' ? pictures.get(url) : undefined;
    if (picture !== undefined && isReady(picture)) return picture;
  }
  return null;
}

/** Returns the area that a tile covers, in pixels at full resolution. */
export function areaOf(source: OpenSeadragon.TileSource, { place, width, height }: TilePicture): Area {
  /** Pixels at full resolution per pixel of the tile. */
  const scale = 2 ** (source.maxLevel - place.level);
  // Each tile except the first of a row or column begins with the pixels that it shares with the previous tile.
  const start = (index: number, size: number) =>
    (index * size - (index > 0 ? source.tileOverlap : 0)) * scale;
  const left = start(place.column, source.getTileWidth(place.level));
  const top = start(place.row, source.getTileHeight(place.level));
  return { left, top, right: left + width * scale, bottom: top + height * scale };
}

/** Returns where the area `inner` lies in the area `outer`, as fractions of the width and height of `outer`. */
function partOf(outer: Area, inner: Area): Quad['part'] {
  const fractionOf = (start: number, end: number, position: number) =>
    Math.min(1, Math.max(0, (position - start) / (end - start)));
  return [
    fractionOf(outer.left, outer.right, inner.left),
    fractionOf(outer.top, outer.bottom, inner.top),
    fractionOf(outer.left, outer.right, inner.right),
    fractionOf(outer.top, outer.bottom, inner.bottom),
  ];
}

/** Returns the corners of an area on the canvas, in the order of `Quad.corners`. */
function cornersOf(placement: Placement, { left, top, right, bottom }: Area): number[] {
  return [
    { x: left, y: top },
    { x: right, y: top },
    { x: left, y: bottom },
    { x: right, y: bottom },
  ].flatMap((corner) => {
    const { x, y } = toScreen(placement, corner);
    return [Math.round(x * subpixelSteps) / subpixelSteps, Math.round(y * subpixelSteps) / subpixelSteps];
  });
}
