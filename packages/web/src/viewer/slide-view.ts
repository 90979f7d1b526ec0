/**
 * The zoomable picture: OpenSeadragon, created once for a place in the page and reused for every slide.
 *
 * Tiles are loaded by us, not by OpenSeadragon: it would ask with the image session of the moment a
 * tile was first seen, cannot tell a 401 from another failure, and never asks again for a tile that failed.
 */
import OpenSeadragon from 'openseadragon';
import { type DeepZoomDescriptor, maxLevelOf, minLevelOf } from './descriptor.ts';
import { drawersHere } from './drawers.ts';
import { withinFullTurn } from './full-turn.ts';
import { type Placement, type Point, placementOf } from './overlay/placement.ts';
import { mayPass, PixelError } from './pixels.ts';
import type { SlideField } from './view-address.ts';
import { viewerSettings } from './viewer-settings.ts';
import { wheelFactor } from './wheel.ts';

/** One image pixel may always be seen on this many screen pixels, whatever `maxZoomLevel` says. */
const screenPixelsPerImagePixel = 2;
const zoomStep = 2;
/** A tile that could not be had is asked for again after this long, while its slide is shown. */
const secondChanceMs = 15_000;

export interface TileAddress {
  /** Deep Zoom level: 0 is one pixel. */
  readonly level: number;
  readonly column: number;
  readonly row: number;
  readonly format: string;
}

interface TileSupply {
  /** Without the image session: tiles are kept under their address, and a renewed session is no new tile. */
  addressOf(tile: TileAddress): string;
  /** A rejection leaves the tile out: for now, or for good where a PixelError says that it will not pass. */
  load(address: string): Promise<Blob>;
  /** Aborted after the slide was put away. */
  readonly signal: AbortSignal;
}

export interface SlideView {
  /** CSS pixels of the place it is shown in. */
  size(): { readonly width: number; readonly height: number };
  /** @param field what to show of it at first; null shows the whole slide */
  show(
    descriptor: DeepZoomDescriptor,
    supply: TileSupply,
    field: SlideField | null,
    listeners: SlideViewListeners,
  ): void;
  /** Put the slide away. */
  clear(): void;
  zoomIn(): void;
  zoomOut(): void;
  goHome(): void;
  /** At once, and wherever it is: also beside the slide. Does nothing before it is opened. */
  moveTo(field: SlideField): void;
  /** About the centre of the view. @param zoom screen pixels per image pixel */
  zoomTo(zoom: number): void;
  /** Move the view over the slide, in parts of what is seen: 1 rightwards is the next field on the right. */
  moveBy(rightwards: number, downwards: number): void;
  /** Degrees, clockwise as it is seen. */
  rotate(degrees: number): void;
  /** Upright again. */
  resetRotation(): void;
  /** Left becomes right, and back. */
  mirror(): void;
  /** Mouse, finger and pen go to a tool instead of moving the slide; null gives them back to the hand. */
  lendPointer(tool: PointerTool | null): void;
  /** Where the slide is now; null before it is opened. Another object after each movement. */
  placement(): Placement | null;
  /** What it shows, or is about to once a movement has come to its end; null before the slide is opened. */
  destination(): SlideField | null;
  /** @param moved called after each step of a movement. @returns a function that ends that */
  watch(moved: () => void): () => void;
  /** The middle of the viewer's place, in CSS pixels from its top left. */
  centre(): Point;
  /** How its colours are shown. @param filter of a style sheet, empty for the colours as they are */
  filterColours(filter: string): void;
  /** What is seen of the slide now, in the screen's own pixels, without filter. Null before it is opened. */
  picture(): HTMLCanvasElement | null;
  /** Ask again for the tiles that could not be had. */
  askAgain(): void;
  destroy(): void;
}

/** Told where a pointer does what, in CSS pixels of the viewer's place from its top left. */
export interface PointerTool {
  onPress(at: Point): void;
  /** Pressed or not. */
  onMove(at: Point): void;
  onRelease(at: Point): void;
  /** What was pressed becomes a gesture of two fingers. */
  onPinch(): void;
}

/** How a slide is seen at a moment. */
export interface Pose {
  /** Screen pixels per image pixel. */
  readonly zoom: number;
  /** The largest zoom there is here. */
  readonly maxZoom: number;
  /** Degrees the slide is heading for, 0 to 360. */
  readonly rotation: number;
  readonly isMirrored: boolean;
}

export function isSamePose(one: Pose, other: Pose): boolean {
  return (
    one.zoom === other.zoom &&
    one.maxZoom === other.maxZoom &&
    one.rotation === other.rotation &&
    one.isMirrored === other.isMirrored
  );
}

interface SlideViewListeners {
  /** All tiles of the present view are there, or cannot be had. */
  readonly onComplete: () => void;
  /** Where the view has come to, or is about to come to, after every change of it. */
  readonly onField: (field: SlideField) => void;
  /** At each step of a movement. */
  readonly onMove: (pose: Pose) => void;
}

/** @param element the place in the page, with a size of its own */
export function createSlideView(element: HTMLElement, label: string): SlideView {
  const viewer = new OpenSeadragon.Viewer({
    ...viewerSettings,
    element,
    drawer: drawersHere(),
    crossOriginPolicy: false,
    // Who looks at 20× goes on doing so in a window of another size.
    preserveImageSizeOnResize: true,
    showNavigator: true,
    navigatorPosition: 'TOP_RIGHT',
    navigatorAutoFade: false,
    navigatorOpacity: 1,
    navigatorBackground: '#d8d8dc',
    navigatorBorderColor: '#a7a3b8',
    navigatorDisplayRegionColor: '#c93f66',
    // Our own buttons take their place: these are pictures without names.
    showNavigationControl: false,
    showSequenceControl: false,
    // Reading a slide, a click is for the hand, not for the zoom.
    gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
    gestureSettingsPen: { clickToZoom: false, dblClickToZoom: true },
    // Every stroke of a trackpad counts, for as much as it moved.
    minScrollDeltaTime: 0,
    // One a frame, OpenSeadragon's own choice, needs a second for a screen of tiles of 240 pixels.
    maxTilesPerFrame: 24,
    // A screen of tiles at once, and no more: what was asked for before a movement must not wait before what it
    // brings into view. (A browser takes six at a time from a server without HTTP/2; the others wait in order.)
    imageLoaderLimit: 24,
  });
  viewer.canvas.setAttribute('role', 'application');
  viewer.canvas.setAttribute('aria-label', label);
  // The overview repeats the slide; the keyboard works on the slide itself.
  viewer.navigator?.element.setAttribute('aria-hidden', 'true');

  let listeners: SlideViewListeners = { onComplete: () => {}, onField: () => {}, onMove: () => {} };
  const failedTiles = new Set<OpenSeadragon.Tile>();
  let secondChance: ReturnType<typeof setTimeout> | undefined;

  function forgetFailures() {
    clearTimeout(secondChance);
    secondChance = undefined;
    failedTiles.clear();
  }

  function askAgain() {
    const images = new Set<OpenSeadragon.TiledImage>();
    for (const tile of failedTiles) {
      tile.exists = true;
      if (tile.tiledImage !== null) images.add(tile.tiledImage);
    }
    forgetFailures();
    // Setting the clip, even to none, is the public way to make an image look over its tiles anew.
    for (const image of images) image.setClip(null);
  }

  function onLost(tile: OpenSeadragon.Tile) {
    failedTiles.add(tile);
    secondChance ??= setTimeout(askAgain, secondChanceMs);
  }

  let fieldAtFirst: SlideField | null = null;

  function showField(field: SlideField | null) {
    const { viewport } = viewer;
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    viewport.setRotation(field?.rotation ?? 0, true);
    viewport.setFlip(field?.isMirrored ?? false);
    if (field === null) {
      viewport.goHome(true);
      return;
    }
    const size = image.getContentSize();
    const zoom = image.imageToViewportZoom(field.zoom);
    viewport.zoomTo(clamp(zoom, viewport.getMinZoom(), viewport.getMaxZoom()), undefined, true);
    viewport.panTo(
      image.imageToViewportCoordinates(clamp(field.x, 0, size.x), clamp(field.y, 0, size.y)),
      true,
    );
  }

  function moveTo(field: SlideField) {
    const { viewport } = viewer;
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    viewport.setRotation(field.rotation, true);
    viewport.setFlip(field.isMirrored);
    viewport.zoomTo(image.imageToViewportZoom(field.zoom), undefined, true);
    viewport.panTo(image.imageToViewportCoordinates(field.x, field.y), true);
    publish();
  }

  let placement: Placement | null = null;
  let destination: SlideField | null = null;
  const watchers = new Set<() => void>();
  /** The whole slide is seen, or about to be: it stays so in a place of another size. */
  let isWhole = false;
  let isResized = false;

  function showsWhole(): boolean {
    const { viewport } = viewer;
    const home = viewport.getHomeBounds().getCenter();
    const isCentred = viewport.getCenter(false).distanceTo(home) * viewport.getZoom(false) < 0.001;
    return isCentred && Math.abs(viewport.getZoom(false) / viewport.getHomeZoom() - 1) < 0.001;
  }

  function publish() {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const centre = image.viewportToImageCoordinates(viewer.viewport.getCenter(false));
    destination = {
      x: centre.x,
      y: centre.y,
      zoom: image.viewportToImageZoom(viewer.viewport.getZoom(false)),
      rotation: withinFullTurn(viewer.viewport.getRotation()),
      isMirrored: viewer.viewport.getFlip(),
    };
    listeners.onField(destination);
    listeners.onMove({
      zoom: image.viewportToImageZoom(viewer.viewport.getZoom(true)),
      maxZoom: image.viewportToImageZoom(viewer.viewport.getMaxZoom()),
      rotation: withinFullTurn(viewer.viewport.getRotation()),
      isMirrored: viewer.viewport.getFlip(),
    });
    isWhole = showsWhole();
    placement = placementHere(image);
    for (const tell of watchers) tell();
  }

  /** OpenSeadragon mirrors what it has drawn, and knows nothing of it in its coordinates. */
  function placementHere(image: OpenSeadragon.TiledImage): Placement {
    const { viewport } = viewer;
    const { x: width, y: height } = image.getContentSize();
    const placeOf = (x: number, y: number): Point => {
      const pixel = viewport.pixelFromPoint(image.imageToViewportCoordinates(x, y, true), true);
      return viewport.getFlip() ? { x: viewport.getContainerSize().x - pixel.x, y: pixel.y } : pixel;
    };
    return placementOf({ width, height }, placeOf(0, 0), placeOf(width, 0), placeOf(0, height));
  }

  /** Zoom level 1 makes the slide as wide as the place it is shown in, so the limit depends on both. */
  function limitZoom() {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const needed = image.imageToViewportZoom(screenPixelsPerImagePixel);
    Object.assign(viewer.viewport, { maxZoomLevel: Math.max(viewerSettings.maxZoomLevel, needed) });
  }

  viewer.addHandler('open', () => {
    limitZoom();
    showField(fieldAtFirst);
    publish();
    // The viewer's own event of this name is not raised for a second slide: it remembers the first.
    viewer.world.getItemAt(0)?.addHandler('fully-loaded-change', ({ fullyLoaded }) => {
      if (fullyLoaded) listeners.onComplete();
    });
  });
  // Raised while it is being resized: where the slide comes to lie is known with the change of the view that follows.
  viewer.addHandler('after-resize', () => {
    limitZoom();
    isResized = true;
  });
  viewer.addHandler('viewport-change', () => {
    if (isResized && isWhole) viewer.viewport.goHome(true);
    isResized = false;
  });
  viewer.addHandler('animation', publish);
  viewer.addHandler('flip', publish);
  viewer.addHandler('canvas-scroll', ({ originalEvent }) => {
    Object.assign(viewer, { zoomPerScroll: wheelFactor(originalEvent as WheelEvent) });
  });
  // Keys work wherever the focus is, and must not work twice where it is on the slide.
  viewer.addHandler('canvas-key', (event) => {
    event.preventDefaultAction = true;
  });

  let pointerTool: PointerTool | null = null;

  function placeOf({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): Point {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  const leaveToTool = (event: { preventDefaultAction: boolean }) => {
    if (pointerTool !== null) event.preventDefaultAction = true;
  };
  viewer.addHandler('canvas-drag', leaveToTool);
  viewer.addHandler('canvas-drag-end', leaveToTool);
  viewer.addHandler('canvas-double-click', leaveToTool);
  viewer.addHandler('canvas-press', (event) => {
    pointerTool?.onPress(placeOf(event.originalEvent as PointerEvent));
  });
  viewer.addHandler('canvas-release', (event) => {
    pointerTool?.onRelease(placeOf(event.originalEvent as PointerEvent));
  });
  viewer.addHandler('canvas-pinch', () => pointerTool?.onPinch());
  viewer.canvas.addEventListener('pointermove', (event) => pointerTool?.onMove(placeOf(event)));

  function zoomBy(factor: number) {
    viewer.viewport.zoomBy(factor).applyConstraints();
  }

  return {
    size: () => ({ width: element.clientWidth, height: element.clientHeight }),
    show: (descriptor, supply, field, of) => {
      forgetFailures();
      fieldAtFirst = field;
      listeners = of;
      viewer.open({ tileSource: new SlideTiles(descriptor, supply, onLost) });
    },
    clear: () => {
      placement = null;
      destination = null;
      forgetFailures();
      viewer.close();
    },
    zoomIn: () => zoomBy(zoomStep),
    zoomOut: () => zoomBy(1 / zoomStep),
    goHome: () => {
      viewer.viewport.goHome();
    },
    moveTo,
    zoomTo: (zoom) => {
      const image = viewer.world.getItemAt(0);
      if (image) viewer.viewport.zoomTo(image.imageToViewportZoom(zoom)).applyConstraints();
    },
    moveBy: (rightwards, downwards) => {
      const { viewport } = viewer;
      const size = viewport.getContainerSize();
      const right = rightwards * size.x * (viewport.getFlip() ? -1 : 1);
      const step = new OpenSeadragon.Point(right, downwards * size.y);
      viewport.panBy(viewport.deltaPointsFromPixels(step)).applyConstraints();
    },
    rotate: (degrees) => {
      // The mirror is put before the rotated slide and turns the sense of its rotation, too.
      viewer.viewport.rotateBy(viewer.viewport.getFlip() ? -degrees : degrees);
    },
    resetRotation: () => {
      const { viewport } = viewer;
      // The short way: turned thrice to the right, it turns to the right once more.
      viewport.setRotation(Math.round(viewport.getRotation() / 360) * 360);
    },
    mirror: () => {
      viewer.viewport.toggleFlip();
    },
    lendPointer: (tool) => {
      pointerTool = tool;
      viewer.canvas.style.cursor = tool === null ? '' : 'crosshair';
    },
    placement: () => placement,
    destination: () => destination,
    watch: (moved) => {
      watchers.add(moved);
      return () => watchers.delete(moved);
    },
    centre: () => ({ x: element.clientWidth / 2, y: element.clientHeight / 2 }),
    filterColours: (filter) => {
      viewer.drawer.canvas.style.filter = filter;
    },
    picture: () => {
      const { canvas } = viewer.drawer;
      return viewer.world.getItemAt(0) && canvas instanceof HTMLCanvasElement ? canvas : null;
    },
    askAgain,
    destroy: () => {
      forgetFailures();
      viewer.destroy();
    },
  };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}

/** The tiles of one slide, as OpenSeadragon asks for them. */
class SlideTiles extends OpenSeadragon.TileSource {
  readonly #format: string;
  readonly #supply: TileSupply;
  readonly #onLost: (tile: OpenSeadragon.Tile) => void;

  /** @param onLost told of a tile that is left out for now and may be had later */
  constructor(
    descriptor: DeepZoomDescriptor,
    supply: TileSupply,
    onLost: (tile: OpenSeadragon.Tile) => void,
  ) {
    const maxLevel = maxLevelOf(descriptor);
    super({
      width: descriptor.width,
      height: descriptor.height,
      tileSize: descriptor.tileSize,
      tileOverlap: descriptor.overlap,
      minLevel: minLevelOf(descriptor, maxLevel),
      maxLevel,
    });
    this.#format = descriptor.format;
    this.#supply = supply;
    this.#onLost = onLost;
  }

  override getTileUrl(level: number, column: number, row: number): string {
    return this.#supply.addressOf({ level, column, row, format: this.#format });
  }

  override hasTransparency(): boolean {
    return this.#format === 'png';
  }

  override downloadTileStart(job: OpenSeadragon.ImageJob): void {
    this.#supply.load(job.src).then(
      (tile) => job.finish(tile, null, 'rasterBlob'),
      (error: unknown) => {
        const isCounted = job.jobId === null; // OpenSeadragon's own time limit was faster
        if (this.#supply.signal.aborted) {
          // Nothing is drawn of a slide that was put away. A failure would be written to the console.
          if (!isCounted) job.finish(new Blob(), null, 'rasterBlob');
          return;
        }
        if (!isCounted) job.fail(String(error), null);
        if (!(error instanceof PixelError) || mayPass(error.failure)) this.#onLost(job.tile);
      },
    );
  }

  /** Only jobs that have not begun are aborted one by one; the signal of the supply ends the others. */
  override downloadTileAbort(): void {}
}
