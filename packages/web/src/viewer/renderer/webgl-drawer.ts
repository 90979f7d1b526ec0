/**
 * OpenSeadragon's drawer with WebGL 2, for computers with a graphics card. It replaces itself with `CanvasDrawer` when frames are
 * slow or the browser does not restore a lost graphics context. A picture is a decoded tile.
 */
import OpenSeadragon from 'openseadragon';
import { toScreen } from '../overlay/placement.ts';
import { CanvasDrawer } from './canvas-drawer.ts';
import { areaOf, type CanvasView, canvasViewOf, quadsOf } from './geometry.ts';
import { pictureType, type Renderer, type RendererOptions } from './renderer.ts';
import type { TilePicture } from './tile-pictures.ts';
import { UploadQueue } from './upload-queue.ts';
import { WebGlPainter } from './webgl-painter.ts';

/** When the browser does not restore a lost graphics context within this time, `CanvasDrawer` draws from then on. */
const restoreTimeoutMs = 3000;
/** When the context is lost for the third time, the driver counts as broken and `CanvasDrawer` draws from then on. */
const maxContextLosses = 3;
/**
 * A graphics card needs a few ms for a frame. If a frame takes longer than this, WebGL draws in software, whatever hardware name it
 * reports.
 */
const slowFrameMs = 120;
/**
 * The frame whose time is measured: its number among the frames with tiles, from 1. During the first frames, the
 * driver also compiles the program.
 */
const measuredFrame = 3;

export class WebGlDrawer extends OpenSeadragon.DrawerBase {
  readonly #renderer: Renderer;
  readonly #gl: WebGL2RenderingContext;
  readonly #painter: WebGlPainter;
  readonly #uploads: UploadQueue;
  /** Removes the event listeners of the canvas. */
  readonly #listenerRemoval = new AbortController();
  /** Slide and placement of the last frame, which determine the priority of uploads; null before the first frame. */
  #lastFrame: { readonly image: OpenSeadragon.TiledImage; readonly view: CanvasView } | null = null;
  #contextLosses = 0;
  #framesWithTiles = 0;

  constructor(parameters: OpenSeadragon.DrawerConstructorParameters) {
    super(parameters);
    const { renderer } = this.options as OpenSeadragon.BaseDrawerOptions & RendererOptions;
    if (renderer.context === null) throw new Error('The renderer has no WebGL context.');
    this.#renderer = renderer;
    this.#gl = renderer.context;
    this.#painter = new WebGlPainter(this.#gl, renderer.colours);
    this.#uploads = new UploadQueue(
      (picture) => this.#upload(picture),
      (picture) => this.#priorityOf(picture),
    );
    renderer.pictures.setTextureDeletion((texture) => this.#gl.deleteTexture(texture));
    renderer.connect({
      prepare: (picture) => this.#uploads.add(picture),
      onColours: (colours) => {
        this.#painter.setColours(colours);
        this.viewer.navigator?.forceRedraw(); // the small overview of the slide
      },
      redraw: () => this.viewer.forceRedraw(),
    });
    this.#watchContext();
  }

  static override isSupported(): boolean {
    return true; // the renderer has already created the context
  }

  override getType(): string {
    return 'lamina-webgl';
  }

  override getSupportedDataFormats(): string[] {
    return [pictureType];
  }

  override canRotate(): boolean {
    return true;
  }

  /** Does nothing: the painter decides for each tile whether it is smoothed. */
  override setImageSmoothingEnabled(): void {}

  /** Called by the constructor of the base class, before the fields of this class exist. */
  _createDrawingElement(): HTMLCanvasElement {
    const { renderer } = this.options as OpenSeadragon.BaseDrawerOptions & RendererOptions;
    return renderer.context?.canvas as HTMLCanvasElement;
  }

  /** Called by OpenSeadragon for each frame. */
  draw(images: readonly OpenSeadragon.TiledImage[]): void {
    if (this.#gl.isContextLost()) return;
    this.#fitCanvas();
    const { width, height } = this.canvas;
    const { pictures } = this.#renderer;
    pictures.beginFrame();
    const [image] = images; // the view shows one slide at a time
    if (image === undefined) {
      this.#painter.begin(width, height);
      return;
    }
    const view = canvasViewOf(image, this.viewport, { width, height });
    this.#lastFrame = { image, view };
    const quads = quadsOf(
      image,
      view,
      pictures,
      ({ texture }) => texture !== null,
      (picture) => void this.#renderer.restore(picture).then(() => this.viewer.forceRedraw()),
    );
    const start = performance.now();
    this.#painter.begin(width, height);
    this.#painter.drawTiles(quads, view);
    if (quads.length > 0) this.#measureFrame(start);
  }

  override destroy(): void {
    this.#listenerRemoval.abort(); // before `loseContext`, whose event would switch to `CanvasDrawer`
    super.destroy();
    this.#renderer.pictures.removeTextures();
    this.#gl.getExtension('WEBGL_lose_context')?.loseContext(); // frees the memory of the context
    this.canvas.remove();
  }

  /** Replaces this drawer with `CanvasDrawer`, which draws the same tiles without WebGL. */
  #switchToCanvas(): void {
    // The type of this option allows only names, but OpenSeadragon also accepts a class.
    const drawer = CanvasDrawer as unknown as string;
    this.viewer.requestDrawer(drawer, { mainDrawer: true, drawerOptions: { renderer: this.#renderer } });
  }

  /** Gives the canvas the size of the viewer in device pixels. */
  #fitCanvas(): void {
    const { x, y } = this.viewport.getContainerSize();
    const width = Math.round(x * OpenSeadragon.pixelDensityRatio);
    const height = Math.round(y * OpenSeadragon.pixelDensityRatio);
    // Setting a size clears the canvas, even if the size stays the same.
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
  }

  /**
   * Measures the time of one frame, and switches to the 2D canvas when it was slow. Reading a pixel makes the browser wait until
   * the graphics card has finished the frame.
   *
   * @param start time (`performance.now`) when drawing the frame began
   */
  #measureFrame(start: number): void {
    this.#framesWithTiles += 1;
    if (this.#framesWithTiles !== measuredFrame || this.#renderer.isForced) return;
    const gl = this.#gl;
    gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, new Uint8Array(4));
    if (performance.now() - start > slowFrameMs) setTimeout(() => this.#switchToCanvas()); // after this frame
  }

  #upload(picture: TilePicture): void {
    if (picture.bitmap === null || picture.texture !== null || this.#gl.isContextLost()) return;
    const texture = this.#painter.upload(picture.bitmap);
    if (texture !== null) this.#renderer.pictures.moveToTexture(picture, texture);
  }

  /**
   * Returns a number that is smaller for tiles that are uploaded sooner: the distance of a tile from the middle of the view in
   * device pixels. Each coarser level adds more than the largest distance within the view, so that finer tiles are uploaded
   * first.
   */
  #priorityOf(picture: TilePicture): number {
    if (this.#lastFrame === null) return 0;
    const { image, view } = this.#lastFrame;
    const { left, top, right, bottom } = areaOf(image.source, picture);
    const { x, y } = toScreen(view.placement, { x: (left + right) / 2, y: (top + bottom) / 2 });
    const distanceToCentre = Math.hypot(x - view.width / 2, y - view.height / 2);
    const levelsBelowMax = image.source.maxLevel - picture.place.level;
    return distanceToCentre + levelsBelowMax * (view.width + view.height);
  }

  /** Handles the loss and the restoration of the graphics context. */
  #watchContext(): void {
    const { signal } = this.#listenerRemoval;
    let switchTimer: ReturnType<typeof setTimeout> | undefined;
    signal.addEventListener('abort', () => clearTimeout(switchTimer));
    this.canvas.addEventListener(
      'webglcontextlost',
      (event) => {
        event.preventDefault(); // allows the browser to restore the context
        this.#contextLosses += 1;
        this.#renderer.pictures.removeTextures();
        switchTimer = setTimeout(
          () => this.#switchToCanvas(),
          this.#contextLosses < maxContextLosses ? restoreTimeoutMs : 0,
        );
      },
      { signal },
    );
    this.canvas.addEventListener(
      'webglcontextrestored',
      () => {
        clearTimeout(switchTimer);
        this.#painter.restore();
        this.viewer.forceRedraw();
      },
      { signal },
    );
  }
}
