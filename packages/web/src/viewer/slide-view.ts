/**
 * The zoomable view of slides: one OpenSeadragon viewer, created once for an element of the page and reused for every slide.
 *
 * A `TileSupply` loads the tiles instead of OpenSeadragon's own loader. That loader would request a tile again with the image session (the
 * credential for loading pixels) of the first request, would not distinguish a 401 from other failures, and would never retry by itself.
 *
 * This file is long, because the operations of the view share the state of one OpenSeadragon viewer.
 */
import OpenSeadragon from 'openseadragon';
import { asScanned, type Colour, type ColourAdjustment } from './colours/adjustment.ts';
import type { DeepZoomDescriptor } from './descriptor.ts';
import { createRenderer } from './drawers.ts';
import { minPixelRatioOf } from './drawn-level.ts';
import { withinFullTurn } from './full-turn.ts';
import { correctMirroredGestures } from './mirrored-gestures.ts';
import { type CanvasOverlay, combineOverlays } from './overlay/canvas-overlays.ts';
import { type Placement, type Point, placementOf } from './overlay/placement.ts';
import { CanvasDrawer } from './renderer/canvas-drawer.ts';
import { canCorrectTiles } from './renderer/correcting-decoder.ts';
import type { Renderer } from './renderer/renderer.ts';
import { WebGlDrawer } from './renderer/webgl-drawer.ts';
import type { DrawnColours } from './renderer/webgl-painter.ts';
import { captureStrips, type Strip } from './screenshot/capture.ts';
import { lacksTiles, type Sharpness } from './sharpness.ts';
import { SlideTiles, type TileCoordinates, type TileSupply } from './slide-tiles.ts';
import { createToolPointer, type PointerKeys, type PointerTool } from './tool-pointer.ts';
import type { SlideField } from './view-address.ts';
import { copyViewPicture, meanColourAt, type ViewPicture } from './view-picture.ts';
import { viewerSettings } from './viewer-settings.ts';
import { wheelFactor } from './wheel.ts';

/** Every slide may be enlarged until an image pixel covers this many CSS pixels, even when `maxZoomLevel` of the settings allows less. */
const alwaysAllowedZoom = 2;
/** Zoom factor of the zoom buttons and keys. */
const zoomStep = 2;
/** Delay before failed tiles are requested again, as long as their slide is shown. */
const retryDelayMs = 15_000;
/**
 * The view counts as showing the whole slide ("home") if it differs from that view by less than this: its centre in widths of the
 * viewer, and its zoom as a fraction of the zoom at which the whole slide fits.
 */
const homeTolerance = 0.001;

/** The operations of the view. */
export interface SlideView {
  /** Returns the element of the viewer, in which callers place marks over the slide. */
  element(): HTMLElement;
  /** Size of the viewer in CSS pixels. */
  size(): { readonly width: number; readonly height: number };
  /** Opens a slide in place of the current one. @param field the field to show first; null shows the whole slide */
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
  /** Shows the whole slide. */
  goHome(): void;
  /** Moves without animation, even beyond the slide. Does nothing before the slide is open. */
  moveTo(field: SlideField): void;
  /** Zooms about the centre of the view. @param zoom CSS pixels per image pixel at full resolution */
  zoomTo(zoom: number): void;
  /** Moves the view by fractions of its width and height: `moveBy(1, 0)` shows the next field on the right. */
  moveBy(rightwards: number, downwards: number): void;
  /** Rotates by degrees, clockwise on the screen. */
  rotate(degrees: number): void;
  resetRotation(): void;
  /** Mirrors left and right. */
  mirror(): void;
  /** Sends pointer events to a tool instead of moving the slide. @param tool with null, the pointer moves the slide again */
  setPointerTool(tool: PointerTool | null): void;
  /**
   * Sends pointer events temporarily to another tool, for example until the user has clicked once.
   *
   * @returns a function that ends this: the tool of the last call of `setPointerTool` then receives the events again
   */
  borrowPointer(tool: PointerTool): () => void;
  /** Undoes what the current press of the pointer has drawn with the tool. @returns false if the pointer is not pressed */
  cancelPress(): boolean;
  /** Returns where the slide is on the screen; null before the slide is open. Each movement creates a new object. */
  placement(): Placement | null;
  /** Returns the size of the slide in pixels at full resolution; null while no slide is shown. */
  imageSize(): { readonly width: number; readonly height: number } | null;
  /** Returns the visible field (part of the slide) or, during a movement, the field at its end; null before the slide is open. */
  destination(): SlideField | null;
  /** @param onMove called after each step of a movement. @returns a function that unsubscribes */
  watch(onMove: () => void): () => void;
  /** Returns the middle of the viewer, in CSS pixels from its top left. */
  centre(): Point;
  /** Whether this browser applies the colour table of the slide's ICC profile; if not, the server must send corrected tiles. */
  readonly correctsColours: boolean;
  /** Whether the view applies colour adjustments itself (WebGL); if not, `showColours` needs a CSS filter. */
  readonly adjustsColours: boolean;
  /**
   * Sets the colours of the slide.
   *
   * @param filter CSS filter with the same effect, for computers without a graphics card; empty: no filter
   */
  showColours(colours: DrawnColours, filter: string): void;
  /** Returns the colour adjustment with which the slide is drawn. */
  adjustment(): ColourAdjustment;
  /** Returns a copy of the visible part of the slide in device pixels; null before the slide is open or without a 2D canvas. */
  picture(): ViewPicture | null;
  /** Adds a canvas over the slide to the pictures that users save. @returns a function that removes it */
  addOverlay(overlay: CanvasOverlay): () => void;
  /** Returns a copy of all overlays on one canvas, in device pixels; null when there are none or without a 2D canvas. */
  overlays(): HTMLCanvasElement | null;
  /**
   * Returns the mean colour around a point, without the colour adjustment; null before the slide is open, and for a point
   * outside the slide or at its edge.
   *
   * @param point in CSS pixels of the viewer
   */
  colourAt(point: Point): Colour | null;
  /**
   * Draws the current field at another magnification, in horizontal strips from top to bottom. Returns null before the slide is
   * open.
   *
   * @param ratio pixels of the picture per CSS pixel
   */
  capture(ratio: number, signal: AbortSignal): AsyncIterable<Strip> | null;
  /** Returns the position of the pointer in CSS pixels of the viewer; null when the pointer is elsewhere. */
  pointer(): Point | null;
  /** Loads and decodes a tile before it becomes visible. @throws the error of `load`, or a DOMException when decoding fails */
  prefetch(tile: TileCoordinates, url: string, load: () => Promise<Blob>): Promise<void>;
  /** Requests failed tiles again; with `all`, also those that failed permanently, such as tiles that the server does not have. */
  retryFailedTiles(scope?: 'all'): void;
  destroy(): void;
}

/** Zoom and orientation of the view at one step of a movement. */
export interface Pose {
  /** CSS pixels per image pixel at full resolution. */
  readonly zoom: number;
  /** Maximum zoom for this slide and viewer. */
  readonly maxZoom: number;
  /** Rotation at the end of the movement, in degrees clockwise, from 0 (inclusive) to 360 (exclusive). */
  readonly rotation: number;
  readonly isMirrored: boolean;
}

export function isSamePose(a: Pose, b: Pose): boolean {
  return (
    a.zoom === b.zoom && a.maxZoom === b.maxZoom && a.rotation === b.rotation && a.isMirrored === b.isMirrored
  );
}

interface SlideViewListeners {
  /** Called when every tile of the view is loaded or has failed. */
  readonly onComplete: () => void;
  /** Called after each change of the sharpness. */
  readonly onSharpness: (sharpness: Sharpness) => void;
  /** Called after each change of the field that is visible at the end of a running movement. */
  readonly onField: (field: SlideField) => void;
  /** Called at each step of a movement, and once when the slide is open. */
  readonly onMove: (pose: Pose) => void;
}

/**
 * Creates the view.
 *
 * @param element an element whose size does not depend on its content
 * @param label accessible name of the slide
 */
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
    // The page has its own buttons, because the button images of OpenSeadragon have no accessible names.
    showNavigationControl: false,
    showSequenceControl: false,
    // A click does not zoom: it may be a drag that was too short.
    gestureSettingsMouse: { clickToZoom: false, dblClickToZoom: true },
    gestureSettingsPen: { clickToZoom: false, dblClickToZoom: true },
    // No wheel event is skipped: `wheelFactor` zooms by the distance of each event.
    minScrollDeltaTime: 0,
    // OpenSeadragon's default, one tile per frame, takes a second to draw a screen of tiles of 240 pixels.
    maxTilesPerFrame: 24,
    // About one screen of tiles is requested at a time, so that requests for the previous field do not delay those for
    // the new field. (Without HTTP/2, browsers send six requests per server at a time and queue the others.)
    imageLoaderLimit: 24,
  });
  // At first, OpenSeadragon's viewer and viewport share one object with the size. The first resize would change both, and
  // `preserveImageSizeOnResize` would compare the new size with itself. `getContainerSize` returns a copy, which separates them.
  Object.assign(viewer.viewport, { containerSize: viewer.viewport.getContainerSize() });
  correctMirroredGestures(viewer); // OpenSeadragon corrects only some gestures on a mirrored slide
  viewer.canvas.setAttribute('role', 'application');
  viewer.canvas.setAttribute('aria-label', label);
  // The navigator (the small overview) repeats the slide; keyboard users work on the slide itself.
  viewer.navigator?.element.setAttribute('aria-hidden', 'true');

  let listeners: SlideViewListeners = {
    onComplete: () => {},
    onSharpness: () => {},
    onField: () => {},
    onMove: () => {},
  };
  /** Tiles that failed temporarily; the view requests them again after `retryDelayMs`. */
  const failedTiles = new Set<OpenSeadragon.Tile>();
  /** Tiles that the server does not have or cannot read; the view requests them again only when the user retries. */
  const missingTiles = new Set<OpenSeadragon.Tile>();
  let retryTimer: ReturnType<typeof setTimeout> | undefined;

  function clearFailures() {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    failedTiles.clear();
    missingTiles.clear();
  }

  function retryFailedTiles(scope?: 'all') {
    clearTimeout(retryTimer);
    retryTimer = undefined;
    const images = new Set<OpenSeadragon.TiledImage>();
    for (const tiles of scope === 'all' ? [failedTiles, missingTiles] : [failedTiles]) {
      for (const tile of tiles) {
        tile.exists = true; // OpenSeadragon has set it to false and does not request such tiles
        if (tile.tiledImage !== null) images.add(tile.tiledImage);
      }
      tiles.clear();
    }
    // Setting the clip, even to null, is the public way to make OpenSeadragon check its tiles again.
    for (const image of images) image.setClip(null);
  }

  function onTileFailed(tile: OpenSeadragon.Tile, isPermanent: boolean) {
    if (isPermanent) {
      missingTiles.add(tile);
      return;
    }
    failedTiles.add(tile);
    retryTimer ??= setTimeout(() => retryFailedTiles(), retryDelayMs);
  }

  let sharpness: Sharpness = 'loading';

  function publishSharpness() {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const newSharpness = sharpnessOf(image);
    if (newSharpness === sharpness) return;
    sharpness = newSharpness;
    listeners.onSharpness(newSharpness);
  }

  function sharpnessOf(image: OpenSeadragon.TiledImage): Sharpness {
    if (!image.getFullyLoaded()) return 'loading';
    return lacksTiles(viewer, image, [...failedTiles, ...missingTiles]) ? 'incomplete' : 'sharp';
  }

  /** The field to show when the slide is open; null for the whole slide. */
  let initialField: SlideField | null = null;

  /**
   * Shows a field without animation, within the limits of zoom and slide. In OpenSeadragon's calls, the last argument
   * is `immediately`, and `undefined` as the point of `zoomTo` means the centre.
   */
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

  let shownSlide: { readonly descriptor: DeepZoomDescriptor; readonly supply: TileSupply } | null = null;
  // `placement` and `destination` are null before the slide is open.
  let placement: Placement | null = null;
  let destination: SlideField | null = null;
  /** The callbacks of `watch`. */
  const watchers = new Set<() => void>();
  const canvasOverlays = new Set<CanvasOverlay>();
  /** Whether the whole slide was shown after the last movement: a resize of the viewer then fits it again. */
  let wasWholeSlideShown = false;
  let isResized = false;

  // OpenSeadragon's `getCenter(true)` and `getZoom(true)` return the values of the current step of a movement, `getCenter(false)`
  // and `getZoom(false)` those at the end of the movement.

  function isWholeSlideShown(): boolean {
    const { viewport } = viewer;
    const homeCentre = viewport.getHomeBounds().getCenter();
    // This distance is in widths of the viewer.
    const distanceToHome = viewport.getCenter(false).distanceTo(homeCentre) * viewport.getZoom(false);
    const zoomRatio = viewport.getZoom(false) / viewport.getHomeZoom();
    return distanceToHome < homeTolerance && Math.abs(zoomRatio - 1) < homeTolerance;
  }

  /** Updates placement and destination, and calls all listeners. */
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
    wasWholeSlideShown = isWholeSlideShown();
    placement = currentPlacement(image);
    for (const onMove of watchers) onMove();
  }

  /**
   * Returns where the slide is on the screen now (hence `true`: the current step of a movement). OpenSeadragon mirrors
   * the drawn image, but not the coordinates that it returns; this function mirrors the coordinates, too.
   */
  function currentPlacement(image: OpenSeadragon.TiledImage): Placement {
    const { viewport } = viewer;
    const { x: width, y: height } = image.getContentSize();
    const screenPointOf = (x: number, y: number): Point => {
      const pixel = viewport.pixelFromPoint(image.imageToViewportCoordinates(x, y, true), true);
      return viewport.getFlip() ? { x: viewport.getContainerSize().x - pixel.x, y: pixel.y } : pixel;
    };
    return placementOf(
      { width, height },
      screenPointOf(0, 0),
      screenPointOf(width, 0),
      screenPointOf(0, height),
    );
  }

  /**
   * Sets the maximum zoom level. At OpenSeadragon's level 1, the slide is as wide as the viewer, so the limit depends
   * on both widths. In this file, `Object.assign` sets properties that OpenSeadragon's types do not declare.
   */
  function limitZoom() {
    const image = viewer.world.getItemAt(0);
    if (!image) return;
    const requiredMax = image.imageToViewportZoom(alwaysAllowedZoom);
    Object.assign(viewer.viewport, { maxZoomLevel: Math.max(viewerSettings.maxZoomLevel, requiredMax) });
  }

  viewer.addHandler('open', () => {
    limitZoom();
    showField(initialField);
    publish();
    // The viewer raises its own event of this name only for the first slide; the image raises it for each slide.
    viewer.world.getItemAt(0)?.addHandler('fully-loaded-change', ({ fullyLoaded }) => {
      if (fullyLoaded) listeners.onComplete();
      publishSharpness();
    });
  });
  // OpenSeadragon raises this event after each drawing, when it has checked which tiles the view needs.
  viewer.addHandler('update-viewport', publishSharpness);
  // OpenSeadragon raises this event during the resize; the new placement is not known before `viewport-change`.
  viewer.addHandler('after-resize', () => {
    limitZoom();
    isResized = true;
  });
  viewer.addHandler('viewport-change', () => {
    if (isResized && wasWholeSlideShown) viewer.viewport.goHome(true);
    isResized = false;
  });
  viewer.addHandler('animation', publish);
  viewer.addHandler('flip', publish);
  viewer.addHandler('canvas-scroll', (event) => {
    const wheel = event.originalEvent as WheelEvent;
    Object.assign(viewer, { zoomPerScroll: wheelFactor(wheel) }); // OpenSeadragon then zooms by this factor
    // In some browsers, the wheel scrolls sideways while Shift is held: the distance is then in deltaX.
    if (pointerTool()?.onWheel?.(wheel.deltaY || wheel.deltaX, keysOf(wheel)))
      event.preventDefaultAction = true;
  });
  // The page handles keys everywhere; OpenSeadragon must not handle them a second time.
  viewer.addHandler('canvas-key', (event) => {
    event.preventDefaultAction = true;
  });

  let chosenTool: PointerTool | null = null; // the tool of `setPointerTool`
  let borrowingTool: PointerTool | null = null; // the tool of `borrowPointer`
  /** Returns the tool that receives pointer events; null: the pointer moves the slide. */
  const pointerTool = () => borrowingTool ?? chosenTool;

  function updateCursor() {
    const tool = pointerTool();
    viewer.canvas.style.cursor = tool === null ? '' : (tool.cursor ?? 'crosshair');
  }

  function pointInViewer({ clientX, clientY }: Pick<MouseEvent, 'clientX' | 'clientY'>): Point {
    const { left, top } = element.getBoundingClientRect();
    return { x: clientX - left, y: clientY - top };
  }

  const preventDragForTool = (event: { preventDefaultAction: boolean }) => {
    const tool = pointerTool();
    if (tool !== null && tool.letsSlideMove !== true) event.preventDefaultAction = true;
  };
  viewer.addHandler('canvas-drag', preventDragForTool);
  viewer.addHandler('canvas-drag-end', preventDragForTool);
  viewer.addHandler('canvas-double-click', (event) => {
    if (pointerTool() !== null) event.preventDefaultAction = true;
  });
  const toolPointer = createToolPointer(pointerTool);
  const toolEventOf = (event: PointerEvent) => ({
    pointerType: event.pointerType,
    point: pointInViewer(event),
    keys: keysOf(event),
  });
  viewer.addHandler('canvas-press', ({ originalEvent }) =>
    toolPointer.press(toolEventOf(originalEvent as PointerEvent)),
  );
  viewer.addHandler('canvas-release', ({ originalEvent }) =>
    toolPointer.release(toolEventOf(originalEvent as PointerEvent)),
  );
  viewer.addHandler('canvas-pinch', ({ pointerType }) => toolPointer.cancelType(pointerType));
  // OpenSeadragon raises no event when the browser takes over a touch, for example to scroll or to switch to another app.
  viewer.canvas.addEventListener('pointercancel', ({ pointerType }) => toolPointer.cancelType(pointerType));
  /** Position of the pointer in CSS pixels of the viewer; null when the pointer is elsewhere. */
  let pointer: Point | null = null;
  viewer.canvas.addEventListener('pointermove', (event) => {
    pointer = pointInViewer(event);
    toolPointer.move(toolEventOf(event));
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
    show: (descriptor, supply, field, slideListeners) => {
      clearFailures();
      initialField = field;
      listeners = slideListeners;
      sharpness = 'loading';
      shownSlide = { descriptor, supply };
      // This ratio determines the drawn level. It is set for each slide, because the user may have moved the window to another screen.
      Object.assign(viewer, { minPixelRatio: minPixelRatioOf(OpenSeadragon.pixelDensityRatio) });
      viewer.open({ tileSource: new SlideTiles(descriptor, supply, renderer, onTileFailed) });
    },
    clear: () => {
      placement = null;
      destination = null;
      shownSlide = null;
      clearFailures();
      viewer.close();
      renderer.pictures.clear();
      renderer.setColours({ ...renderer.colours, table: null }); // the table belongs to the closed slide
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
      // Sets the nearest multiple of 360°, so that the slide turns the short way: from 270°, another 90° clockwise.
      viewport.setRotation(Math.round(viewport.getRotation() / 360) * 360);
    },
    mirror: () => {
      viewer.viewport.toggleFlip();
    },
    setPointerTool: (tool) => {
      chosenTool = tool;
      updateCursor();
    },
    borrowPointer: (tool) => {
      borrowingTool = tool;
      updateCursor();
      return () => {
        if (borrowingTool === tool) borrowingTool = null;
        updateCursor();
      };
    },
    cancelPress: () => toolPointer.cancel(),
    imageSize: () =>
      shownSlide && { width: shownSlide.descriptor.width, height: shownSlide.descriptor.height },
    placement: () => placement,
    destination: () => destination,
    watch: (onMove) => {
      watchers.add(onMove);
      return () => watchers.delete(onMove);
    },
    centre: () => ({ x: element.clientWidth / 2, y: element.clientHeight / 2 }),
    get correctsColours() {
      // WebGL always corrects colours; without WebGL, a worker corrects the tiles if the browser allows it to read their pixels.
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
    picture: () => (viewer.world.getItemAt(0) ? copyViewPicture(viewer) : null),
    addOverlay: (overlay) => {
      canvasOverlays.add(overlay);
      return () => canvasOverlays.delete(overlay);
    },
    overlays: () => combineOverlays([...canvasOverlays]),
    colourAt: (point) => {
      const { colours } = renderer;
      renderer.setColours({ ...colours, adjustment: asScanned }); // `copyViewPicture` draws the view with these colours
      const picture = viewer.world.getItemAt(0) ? copyViewPicture(viewer) : null;
      renderer.setColours(colours);
      return picture === null ? null : meanColourAt(picture, point);
    },
    capture: (ratio, signal) => {
      if (placement === null || shownSlide === null) return null;
      const { descriptor, supply } = shownSlide;
      const size = { width: element.clientWidth, height: element.clientHeight };
      const load = (tile: Omit<TileCoordinates, 'format'>) =>
        supply.load(supply.urlOf({ ...tile, format: descriptor.format }));
      return captureStrips({ descriptor, placement, size, ratio, colours: renderer.colours, load, signal });
    },
    pointer: () => pointer,
    prefetch: async ({ level, column, row }, url, load) => {
      await renderer.loadTile(url, { level, column, row }, load);
    },
    retryFailedTiles,
    destroy: () => {
      clearFailures();
      viewer.destroy();
      renderer.destroy();
    },
  };
}

/** Returns the options of OpenSeadragon that make it draw with the renderer. The navigator is always drawn on a 2D canvas. */
function drawersOf(renderer: Renderer) {
  return {
    drawer: renderer.context === null ? CanvasDrawer : WebGlDrawer,
    // The type of this option allows only names, but OpenSeadragon also accepts a class here, as it does for `drawer`.
    navigatorDrawer: CanvasDrawer as unknown as string,
    drawerOptions: { custom: { renderer } as OpenSeadragon.BaseDrawerOptions },
  } as const;
}

function keysOf({ altKey, shiftKey }: PointerEvent | WheelEvent): PointerKeys {
  return { alt: altKey, shift: shiftKey };
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
