/**
 * The zoomable view: OpenSeadragon, created once for an element of the page and reused for every slide.
 *
 * Tiles are loaded by `TileSupply`, not by OpenSeadragon, which would use the image session of the moment a
 * tile was first seen, cannot distinguish a 401 from other failures, and never retries a failed tile.
 *
 * Longer than other files: the operations of the view share the state of one OpenSeadragon viewer.
 */
import OpenSeadragon from 'openseadragon';
import { asScanned, type Colour, type ColourAdjustment } from './colours/adjustment.ts';
import type { DeepZoomDescriptor } from './descriptor.ts';
import { createRenderer } from './drawers.ts';
import { minPixelRatioOf } from './drawn-level.ts';
import { withinFullTurn } from './full-turn.ts';
import { type Placement, type Point, placementOf } from './overlay/placement.ts';
import { CanvasDrawer } from './renderer/canvas-drawer.ts';
import { canCorrectTiles } from './renderer/correcting-decoder.ts';
import type { Layer } from './renderer/layers.ts';
import type { Renderer } from './renderer/renderer.ts';
import { WebGlDrawer } from './renderer/webgl-drawer.ts';
import type { DrawnColours } from './renderer/webgl-painter.ts';
import { captureStrips, type Strip } from './screenshot/capture.ts';
import { lacksTiles, type Sharpness } from './sharpness.ts';
import { SlideTiles, type TileAddress, type TileSupply } from './slide-tiles.ts';
import type { SlideField } from './view-address.ts';
import { meanColourAt, pictureNow, type ViewPicture } from './view-picture.ts';
import { viewerSettings } from './viewer-settings.ts';
import { wheelFactor } from './wheel.ts';

/** An image pixel may always be enlarged to this many screen pixels, whatever `maxZoomLevel` is. */
const screenPixelsPerImagePixel = 2;
const zoomStep = 2;
/** Delay before failed tiles are requested again, while their slide is shown. */
const secondChanceMs = 15_000;

export interface SlideView {
  /** Returns the element of the viewer, for marks over the slide. */
  element(): HTMLElement;
  /** Size of the viewer in CSS pixels. */
  size(): { readonly width: number; readonly height: number };
  /** @param field the field to show first; null: the whole slide */
  show(
    descriptor: DeepZoomDescriptor,
    supply: TileSupply,
    field: SlideField | null,
    listeners: SlideViewListeners,
  ): void;
  /** Closes the slide. */
  clear(): void;
  zoomIn(): void;
  zoomOut(): void;
  goHome(): void;
  /** Moves at once, without animation, even beyond the slide. Does nothing before the slide is open. */
  moveTo(field: SlideField): void;
  /** Zooms about the centre of the view. @param zoom screen pixels per image pixel */
  zoomTo(zoom: number): void;
  /** Moves the view by parts of the visible field: 1 to the right is the next field on the right. */
  moveBy(rightwards: number, downwards: number): void;
  /** Rotates by degrees, clockwise on the screen. */
  rotate(degrees: number): void;
  /** Resets the rotation. */
  resetRotation(): void;
  /** Mirrors left and right. */
  mirror(): void;
  /** Sends pointer events to a tool instead of moving the slide; null: back to moving. */
  lendPointer(tool: PointerTool | null): void;
  /** Returns the current placement of the slide; null before it is open. Each movement creates a new object. */
  placement(): Placement | null;
  /** Returns the visible field, or that at the end of a running movement; null before the slide is open. */
  destination(): SlideField | null;
  /** @param moved called after each step of a movement. @returns a function that unsubscribes */
  watch(moved: () => void): () => void;
  /** Returns the middle of the viewer, in CSS pixels from its top left. */
  centre(): Point;
  /** Whether the view corrects colours by a colour table; else it needs corrected tiles. */
  readonly correctsColours: boolean;
  /** Whether the view adjusts colours itself; else it needs a filter. */
  readonly adjustsColours: boolean;
  /**
   * Sets the colours of the slide.
   *
   * @param filter CSS filter with the same effect, for computers without a graphics card; empty: no filter
   */
  showColours(colours: DrawnColours, filter: string): void;
  /** Returns the colour adjustment with which the slide is drawn. */
  adjustment(): ColourAdjustment;
  /** Returns a copy of the visible part of the slide in device pixels. Null before the slide is open. */
  picture(): ViewPicture | null;
  /**
   * Returns the colour at a place, in CSS pixels of the viewer, without adjustment: the mean of the pixels around it. Null
   * before the slide is open.
   */
  colourAt(place: Point): Colour | null;
  /**
   * Draws the visible field as it is now at another magnification. Null before the slide is open.
   *
   * @param ratio pixels of the picture per CSS pixel
   */
  capture(ratio: number, signal: AbortSignal): AsyncIterable<Strip> | null;
  /** Returns the place of the pointer in CSS pixels of the viewer; null when it is elsewhere. */
  pointer(): Point | null;
  /** Loads and decodes a tile ahead of its need. Rejects with the error of `load`. */
  prefetch(tile: TileAddress, address: string, load: () => Promise<Blob>): Promise<void>;
  /** What is drawn over the slide, into its canvas. @returns a function that removes the layer */
  addLayer(layer: Layer): () => void;
  /** Requests failed tiles again; `all`: also those that the server reported as missing. */
  askAgain(which?: 'all'): void;
  destroy(): void;
}

/** Modifier keys that are held during a pointer event. */
export interface PointerKeys {
  readonly alt: boolean;
  readonly shift: boolean;
}

/** Receives pointer events, in CSS pixels of the viewer from its top left. */
export interface PointerTool {
  /** CSS cursor over the slide; default: a crosshair. */
  readonly cursor?: string;
  /** Whether dragging from the current press moves the slide; default: no. The tool receives the events nevertheless. */
  readonly leavesToSlide?: boolean;
  onPress(at: Point, keys: PointerKeys): void;
  /** Pressed or not. */
  onMove(at: Point, keys: PointerKeys): void;
  onRelease(at: Point, keys: PointerKeys): void;
  /** The press has become a gesture with two fingers. */
  onPinch(): void;
  /** @returns whether the tool uses this turn of the wheel, which then does not zoom */
  onWheel?(delta: number, keys: PointerKeys): boolean;
}

/** State of the view at a moment. */
export interface Pose {
  /** Screen pixels per image pixel. */
  readonly zoom: number;
  /** Maximum zoom for this slide and viewer. */
  readonly maxZoom: number;
  /** Target rotation in degrees, 0 to 360. */
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
  /** All tiles of the view are loaded, or have failed. */
  readonly onComplete: () => void;
  /** Called after each change of the state. */
  readonly onSharpness: (sharpness: Sharpness) => void;
  /** Called after each change of the target field. */
  readonly onField: (field: SlideField) => void;
  /** Called at each step of a movement. */
  readonly onMove: (pose: Pose) => void;
}

/** @param element an element with a size of its own */
// oxlint-disable-next-line lamina/max-own-lines -- creates the viewer and connects its parts; the behaviour is in nested functions
export function createSlideView(element: HTMLElement, label: string): SlideView {
  const renderer = createRenderer();
  const viewer = new OpenSeadragon.Viewer({
    ...viewerSettings,
    element,
    ...drawersOf(renderer),
    crossOriginPolicy: false,
    // The zoom stays the same when the window is resized.
    preserveImageSizeOnResize: true,
    showNavigator: true,
    navigatorPosition: 'TOP_RIGHT',
    navigatorAutoFade: false,
    navigatorOpacity: 1,
    navigatorBackground: 'var(--navigator-background)',
    navigatorBorderColor: 'var(--navigator-border)',
    navigatorDisplayRegionColor: '#c93f66',
    // The page has its own buttons: these images have no accessible names.
    showNavigationControl: false,
    showSequenceControl: false,
    // A click does not zoom: it may belong to a drag.
    gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
    gestureSettingsPen: { clickToZoom: false, dblClickToZoom: true },
    // Every wheel event counts, by its distance.
    minScrollDeltaTime: 0,
    // OpenSeadragon's default, one tile per frame, needs a second for a screen of tiles of 240 pixels.
    maxTilesPerFrame: 24,
    // One screen of tiles at a time: requests from before a movement must not delay those for the new
    // field. (Without HTTP/2, browsers send six requests per server at a time and queue the others.)
    imageLoaderLimit: 24,
  });
  viewer.canvas.setAttribute('role', 'application');
  viewer.canvas.setAttribute('aria-label', label);
  // The navigator repeats the slide; keyboard users work on the slide itself.
  viewer.navigator?.element.setAttribute('aria-hidden', 'true');

  let listeners: SlideViewListeners = {
    onComplete: () => {},
    onSharpness: () => {},
    onField: () => {},
    onMove: () => {},
  };
  /** Tiles that failed and may load later. */
  const failedTiles = new Set<OpenSeadragon.Tile>();
  /** Tiles that the server does not have or cannot read: retried only on request of the person. */
  const missingTiles = new Set<OpenSeadragon.Tile>();
  let secondChance: ReturnType<typeof setTimeout> | undefined;

  function forgetFailures() {
    clearTimeout(secondChance);
    secondChance = undefined;
    failedTiles.clear();
    missingTiles.clear();
  }

  function askAgain(which?: 'all') {
    clearTimeout(secondChance);
    secondChance = undefined;
    const images = new Set<OpenSeadragon.TiledImage>();
    for (const tiles of which === 'all' ? [failedTiles, missingTiles] : [failedTiles]) {
      for (const tile of tiles) {
        tile.exists = true;
        if (tile.tiledImage !== null) images.add(tile.tiledImage);
      }
      tiles.clear();
    }
    // Setting the clip, even to null, is the public way to make OpenSeadragon check its tiles again.
    for (const image of images) image.setClip(null);
  }

  function onLost(tile: OpenSeadragon.Tile, isForGood: boolean) {
    if (isForGood) {
      missingTiles.add(tile);
      return;
    }
    failedTiles.add(tile);
    secondChance ??= setTimeout(() => askAgain(), secondChanceMs);
  }

  let sharpness: Sharpness = 'loading';

  function publishSharpness() {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const now = !image.getFullyLoaded()
      ? 'loading'
      : lacksTiles(viewer, image, [...failedTiles, ...missingTiles])
        ? 'incomplete'
        : 'sharp';
    if (now === sharpness) return;
    sharpness = now;
    listeners.onSharpness(now);
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

  let shown: { readonly descriptor: DeepZoomDescriptor; readonly supply: TileSupply } | null = null;
  let placement: Placement | null = null;
  let destination: SlideField | null = null;
  const watchers = new Set<() => void>();
  /** Whether the whole slide is shown; it then stays so when the viewer is resized. */
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

  /** OpenSeadragon mirrors the drawn image, but not its coordinates. */
  function placementHere(image: OpenSeadragon.TiledImage): Placement {
    const { viewport } = viewer;
    const { x: width, y: height } = image.getContentSize();
    const placeOf = (x: number, y: number): Point => {
      const pixel = viewport.pixelFromPoint(image.imageToViewportCoordinates(x, y, true), true);
      return viewport.getFlip() ? { x: viewport.getContainerSize().x - pixel.x, y: pixel.y } : pixel;
    };
    return placementOf({ width, height }, placeOf(0, 0), placeOf(width, 0), placeOf(0, height));
  }

  /** At zoom level 1 the slide is as wide as the viewer, so that the limit depends on both. */
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
    // OpenSeadragon's own event of this name is not raised for a second slide.
    viewer.world.getItemAt(0)?.addHandler('fully-loaded-change', ({ fullyLoaded }) => {
      if (fullyLoaded) listeners.onComplete();
      publishSharpness();
    });
  });
  // Raised after each drawing, when OpenSeadragon has checked the tiles of the view.
  viewer.addHandler('update-viewport', publishSharpness);
  // Raised during the resize; the placement is known with the following change of the view.
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
  viewer.addHandler('canvas-scroll', (event) => {
    const wheel = event.originalEvent as WheelEvent;
    Object.assign(viewer, { zoomPerScroll: wheelFactor(wheel) });
    // Shift turns the wheel sideways in some browsers.
    if (pointerTool?.onWheel?.(wheel.deltaY || wheel.deltaX, keysOf(wheel)))
      event.preventDefaultAction = true;
  });
  // The page handles keys everywhere; OpenSeadragon must not handle them a second time.
  viewer.addHandler('canvas-key', (event) => {
    event.preventDefaultAction = true;
  });

  let pointerTool: PointerTool | null = null;

  function placeOf({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): Point {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  const leaveToTool = (event: { preventDefaultAction: boolean }) => {
    if (pointerTool !== null && pointerTool.leavesToSlide !== true) event.preventDefaultAction = true;
  };
  viewer.addHandler('canvas-drag', leaveToTool);
  viewer.addHandler('canvas-drag-end', leaveToTool);
  viewer.addHandler('canvas-double-click', (event) => {
    if (pointerTool !== null) event.preventDefaultAction = true;
  });
  viewer.addHandler('canvas-press', ({ originalEvent }) => {
    const event = originalEvent as PointerEvent;
    pointerTool?.onPress(placeOf(event), keysOf(event));
  });
  viewer.addHandler('canvas-release', ({ originalEvent }) => {
    const event = originalEvent as PointerEvent;
    pointerTool?.onRelease(placeOf(event), keysOf(event));
  });
  viewer.addHandler('canvas-pinch', () => pointerTool?.onPinch());
  let pointer: Point | null = null;
  viewer.canvas.addEventListener('pointermove', (event) => {
    pointer = placeOf(event);
    pointerTool?.onMove(pointer, keysOf(event));
  });
  viewer.canvas.addEventListener('pointerleave', () => {
    pointer = null;
  });

  function zoomBy(factor: number) {
    viewer.viewport.zoomBy(factor).applyConstraints();
  }

  return {
    element: () => element,
    size: () => ({ width: element.clientWidth, height: element.clientHeight }),
    show: (descriptor, supply, field, of) => {
      forgetFailures();
      fieldAtFirst = field;
      listeners = of;
      sharpness = 'loading';
      shown = { descriptor, supply };
      // For each slide: a window may have moved to another screen since.
      Object.assign(viewer, { minPixelRatio: minPixelRatioOf(OpenSeadragon.pixelDensityRatio) });
      viewer.open({ tileSource: new SlideTiles(descriptor, supply, renderer, onLost) });
    },
    clear: () => {
      placement = null;
      destination = null;
      shown = null;
      forgetFailures();
      viewer.close();
      renderer.pictures.clear();
      renderer.setColours({ ...renderer.colours, table: null });
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
      // The mirror is applied after the rotation and reverses its direction.
      viewer.viewport.rotateBy(viewer.viewport.getFlip() ? -degrees : degrees);
    },
    resetRotation: () => {
      const { viewport } = viewer;
      // The short way: after 270° to the right, another 90° turn to the right.
      viewport.setRotation(Math.round(viewport.getRotation() / 360) * 360);
    },
    mirror: () => {
      viewer.viewport.toggleFlip();
    },
    lendPointer: (tool) => {
      pointerTool = tool;
      viewer.canvas.style.cursor = tool === null ? '' : (tool.cursor ?? 'crosshair');
    },
    placement: () => placement,
    destination: () => destination,
    watch: (moved) => {
      watchers.add(moved);
      return () => watchers.delete(moved);
    },
    centre: () => ({ x: element.clientWidth / 2, y: element.clientHeight / 2 }),
    get correctsColours() {
      return !(viewer.drawer instanceof CanvasDrawer) || canCorrectTiles();
    },
    get adjustsColours() {
      return !(viewer.drawer instanceof CanvasDrawer);
    },
    showColours: (colours, filter) => {
      renderer.setColours(colours);
      viewer.drawer.canvas.style.filter = viewer.drawer instanceof CanvasDrawer ? filter : '';
    },
    adjustment: () => renderer.colours.adjustment,
    picture: () => (viewer.world.getItemAt(0) ? pictureNow(viewer) : null),
    colourAt: (place) => {
      const { colours } = renderer;
      renderer.setColours({ ...colours, adjustment: asScanned });
      const picture = viewer.world.getItemAt(0) ? pictureNow(viewer) : null;
      renderer.setColours(colours);
      return picture === null ? null : meanColourAt(picture, place);
    },
    capture: (ratio, signal) => {
      if (placement === null || shown === null) return null;
      const { descriptor, supply } = shown;
      const size = { width: element.clientWidth, height: element.clientHeight };
      const load = (place: Omit<TileAddress, 'format'>) =>
        supply.load(supply.addressOf({ ...place, format: descriptor.format }));
      return captureStrips({ descriptor, placement, size, ratio, colours: renderer.colours, load, signal });
    },
    pointer: () => pointer,
    prefetch: async ({ level, column, row }, address, load) => {
      await renderer.open(address, { level, column, row }, load);
    },
    addLayer: (layer) => renderer.addLayer(layer),
    askAgain,
    destroy: () => {
      forgetFailures();
      viewer.destroy();
      renderer.destroy();
    },
  };
}

/** Returns the options of OpenSeadragon that make it draw with the renderer. The navigator never takes a WebGL context. */
function drawersOf(renderer: Renderer) {
  return {
    drawer: renderer.context === null ? CanvasDrawer : WebGlDrawer,
    // The types know names only, but OpenSeadragon accepts a class, as for the drawer itself.
    navigatorDrawer: CanvasDrawer as unknown as string,
    drawerOptions: { custom: { renderer } as OpenSeadragon.BaseDrawerOptions },
  } as const;
}

function keysOf({ altKey, shiftKey }: PointerEvent | WheelEvent): PointerKeys {
  return { alt: altKey, shift: shiftKey };
}

function clamp(value: number, least: number, most: number): number {
  return Math.min(Math.max(value, least), most);
}
