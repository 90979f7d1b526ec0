/**
 * OpenSeadragon's drawer with a 2D canvas, for computers without a graphics card and for the navigator (the small
 * overview of the slide). It draws the same quads (tiles, or parts of tiles, on the canvas) as `WebGlDrawer`. A picture
 * is a decoded tile.
 */
import OpenSeadragon from 'openseadragon';
import { applyTable } from '../colours/apply-table.ts';
import { drawQuad } from './canvas-painter.ts';
import { canCorrectTiles } from './correcting-decoder.ts';
import { canvasViewOf, quadsOf } from './geometry.ts';
import { pictureType, type Renderer, type RendererOptions } from './renderer.ts';
import type { TilePicture } from './tile-pictures.ts';
import type { DrawnColours } from './webgl-painter.ts';

export class CanvasDrawer extends OpenSeadragon.DrawerBase {
  readonly #renderer: Renderer;
  readonly #context: CanvasRenderingContext2D;
  /** Whether this drawer draws the navigator, which shows the whole slide. */
  readonly #isNavigator: boolean;

  constructor(parameters: OpenSeadragon.DrawerConstructorParameters) {
    super(parameters);
    const { renderer } = this.options as OpenSeadragon.BaseDrawerOptions & RendererOptions;
    this.#isNavigator = this.viewer instanceof OpenSeadragon.Navigator;
    // `#correctNavigator` reads the pixels of the navigator.
    const context = this.canvas.getContext('2d', { willReadFrequently: this.#isNavigator });
    if (context === null) throw new Error('This browser does not support 2D canvas.');
    this.#renderer = renderer;
    this.#context = context;
    if (this.#isNavigator) return; // only the drawer of the slide itself registers its functions with the renderer
    // The colour adjustment needs nothing here: `SlideView` applies it as a CSS filter of the canvas.
    const applyColourTable = ({ table }: DrawnColours) => {
      // If the browser cannot correct tiles, the viewer requests tiles that the server has corrected.
      renderer.pictures.setColourTable(canCorrectTiles() ? table : null);
      this.viewer.navigator?.forceRedraw();
    };
    renderer.connect({ redraw: () => this.viewer.forceRedraw(), onColours: applyColourTable });
    applyColourTable(renderer.colours);
  }

  static override isSupported(): boolean {
    return true;
  }

  override getType(): string {
    return 'lamina-canvas';
  }

  override getSupportedDataFormats(): string[] {
    return [pictureType];
  }

  override canRotate(): boolean {
    return true;
  }

  /** Does nothing: tiles are always drawn with the smoothing of the canvas. */
  override setImageSmoothingEnabled(): void {}

  /** Called by the constructor of the base class, before the fields of this class exist. */
  _createDrawingElement(): HTMLCanvasElement {
    return document.createElement('canvas');
  }

  /** Called by OpenSeadragon for each frame. */
  draw(images: readonly OpenSeadragon.TiledImage[]): void {
    const { canvas } = this;
    const context = this.#context;
    const { x, y } = this.viewport.getContainerSize();
    const width = Math.round(x * OpenSeadragon.pixelDensityRatio);
    const height = Math.round(y * OpenSeadragon.pixelDensityRatio);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width; // setting the size also clears the canvas
      canvas.height = height;
    } else {
      context.setTransform(1, 0, 0, 1, 0, 0);
      context.clearRect(0, 0, width, height);
    }
    const { pictures } = this.#renderer;
    if (!this.#isNavigator) pictures.beginFrame();
    const [image] = images; // the view shows one slide at a time
    if (image === undefined) return;
    const view = canvasViewOf(image, this.viewport, { width, height });
    /** Decodes again a tile whose pixels are not in memory, or have the colours of an earlier table. */
    const restore = (picture: TilePicture) => {
      picture.isPinned ||= this.#isNavigator; // the pictures of the navigator are not evicted from memory
      void this.#renderer.restore(picture).then(() => this.viewer.forceRedraw());
    };
    const quads = quadsOf(image, view, pictures, ({ bitmap }) => bitmap !== null, restore);
    for (const quad of quads) {
      const { picture } = quad;
      picture.isPinned ||= this.#isNavigator;
      drawQuad(context, quad, view.placement);
      // After a change of the colour table, the tile has its old colours until it is decoded again with the new table.
      if (!pictures.isCurrent(picture)) restore(picture);
    }
    context.globalAlpha = 1;
    context.setTransform(1, 0, 0, 1, 0, 0);
    if (this.#isNavigator) this.#correctNavigator();
  }

  /**
   * Corrects the colours of the whole navigator if its bitmaps are uncorrected. They are so when `WebGlDrawer` draws the
   * slide: its shader corrects the colours while it draws, and the bitmaps keep the stored colours.
   */
  #correctNavigator(): void {
    const { colours, pictures } = this.#renderer;
    if (colours.table === null || colours.table === pictures.table || !canCorrectTiles()) return;
    const image = this.#context.getImageData(0, 0, this.canvas.width, this.canvas.height);
    applyTable(image.data, colours.table);
    this.#context.putImageData(image, 0, 0);
  }

  override destroy(): void {
    super.destroy();
    this.canvas.width = 1; // frees the memory of the canvas without waiting for garbage collection
    this.canvas.height = 1;
    this.canvas.remove();
  }
}
