/** Draws tiles with WebGL 2, for `WebGlDrawer`. */
import { type ColourAdjustment, isAsScanned, linearToneOf, saturationMatrix } from '../colours/adjustment.ts';
import type { ColourTable } from '../colours/colour-table.ts';
import type { CanvasView, Quad } from './geometry.ts';
import { createTileProgram, type TileProgram } from './shaders.ts';

// Numbers of the texture units.
const tileUnit = 0;
const tableUnit = 1;

/** The colours with which a slide is drawn. */
export interface DrawnColours {
  readonly adjustment: ColourAdjustment;
  /** Colour table that corrects the scanner's colours; null leaves them as scanned. */
  readonly table: ColourTable | null;
}

/** Draws frames with one WebGL context. */
export class WebGlPainter {
  readonly gl: WebGL2RenderingContext;
  #program: TileProgram;
  /** Sampler that interpolates between pixels. */
  #smooth: WebGLSampler;
  /**
   * Sampler that returns the nearest pixel. When each tile pixel lies on one device pixel, the colours are exactly
   * those that are stored, whatever the precision of the graphics card.
   */
  #exact: WebGLSampler;
  #table: WebGLTexture | null = null; // null until `setColours` creates it
  #tableSize = 0;
  #colours: DrawnColours;

  constructor(gl: WebGL2RenderingContext, colours: DrawnColours) {
    this.gl = gl;
    this.#colours = colours;
    this.#program = createTileProgram(gl);
    this.#smooth = createSampler(gl, gl.LINEAR);
    this.#exact = createSampler(gl, gl.NEAREST);
    this.setColours(colours);
  }

  /** Creates the program, samplers and colour table again, after the context was lost and restored. */
  restore(): void {
    const { gl } = this;
    this.#program = createTileProgram(gl);
    this.#smooth = createSampler(gl, gl.LINEAR);
    this.#exact = createSampler(gl, gl.NEAREST);
    this.#table = null;
    this.setColours(this.#colours);
  }

  setColours(colours: DrawnColours): void {
    const { gl } = this;
    if (colours.table !== this.#colours.table || this.#table === null) {
      if (this.#table !== null) gl.deleteTexture(this.#table);
      // The 3D sampler of the shader needs a texture even when the shader does not read it.
      this.#table = createTable(gl, colours.table);
      this.#tableSize = colours.table?.size ?? 0;
    }
    this.#colours = colours;
  }

  /** Copies a bitmap to graphics memory. Returns null when the context is lost. */
  upload(bitmap: ImageBitmap): WebGLTexture | null {
    const { gl } = this;
    const texture = gl.createTexture();
    gl.activeTexture(gl.TEXTURE0 + tileUnit);
    gl.bindTexture(gl.TEXTURE_2D, texture);
    gl.texStorage2D(gl.TEXTURE_2D, 1, gl.RGBA8, bitmap.width, bitmap.height); // one mipmap level
    gl.pixelStorei(gl.UNPACK_PREMULTIPLY_ALPHA_WEBGL, false);
    gl.pixelStorei(gl.UNPACK_COLORSPACE_CONVERSION_WEBGL, gl.NONE);
    gl.texSubImage2D(gl.TEXTURE_2D, 0, 0, 0, gl.RGBA, gl.UNSIGNED_BYTE, bitmap); // level 0, from (0, 0)
    return gl.isContextLost() ? null : texture;
  }

  /** Clears the canvas and sets up the context for a frame. The size of the canvas is in device pixels. */
  begin(width: number, height: number): void {
    const { gl } = this;
    gl.viewport(0, 0, width, height);
    gl.disable(gl.SCISSOR_TEST);
    gl.disable(gl.DEPTH_TEST);
    gl.disable(gl.CULL_FACE);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT);
  }

  /** Draws quads (tiles or parts of tiles) in their order. Changes the program, textures and blending of the context. */
  drawTiles(quads: readonly Quad[], view: CanvasView): void {
    const { gl } = this;
    this.#bindProgram(view);
    const { uniforms } = this.#program;
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA); // the shader returns premultiplied alpha
    for (const { picture, corners, part, opacity, isExact } of quads) {
      if (picture.texture === null) continue;
      gl.bindTexture(gl.TEXTURE_2D, picture.texture);
      gl.bindSampler(tileUnit, isExact ? this.#exact : this.#smooth);
      gl.uniform2fv(uniforms.uCorners, corners);
      gl.uniform2f(uniforms.uOrigin, corners[0] ?? 0, corners[1] ?? 0);
      gl.uniformMatrix2fv(uniforms.uToUnit, false, toUnitMatrix(corners)); // `false`: column by column
      gl.uniform4f(uniforms.uPart, ...part);
      gl.uniform1f(uniforms.uOpacity, opacity);
      // A tile that has faded in replaces the coarser tile below it, even where the finer tile is transparent.
      if (opacity < 1) gl.enable(gl.BLEND);
      else gl.disable(gl.BLEND);
      gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4); // four corners, which span two triangles
    }
    gl.bindSampler(tileUnit, null);
    gl.bindSampler(tableUnit, null);
  }

  /** Makes the program current, and sets the uniforms and textures that all tiles share. */
  #bindProgram({ width, height }: CanvasView): void {
    const { gl } = this;
    const { program, uniforms } = this.#program;
    const { adjustment } = this.#colours;
    // biome-ignore lint/correctness/useHookAtTopLevel: WebGL, not React
    gl.useProgram(program);
    gl.uniform2f(uniforms.uCanvas, width, height);
    gl.uniform1i(uniforms.uTile, tileUnit);
    gl.uniform1i(uniforms.uTable, tableUnit);
    gl.uniform1f(uniforms.uTableSize, this.#tableSize);
    gl.uniform1i(uniforms.uIsAdjusted, isAsScanned(adjustment) ? 0 : 1);
    const { slopes, intercept } = linearToneOf(adjustment);
    gl.uniform3f(uniforms.uSlope, ...slopes);
    gl.uniform1f(uniforms.uIntercept, intercept);
    gl.uniform1f(uniforms.uExponent, 1 / adjustment.gamma);
    const isRowByRow = true;
    gl.uniformMatrix3fv(uniforms.uSaturation, isRowByRow, saturationMatrix(adjustment.saturation));
    gl.activeTexture(gl.TEXTURE0 + tableUnit);
    gl.bindTexture(gl.TEXTURE_3D, this.#table);
    gl.bindSampler(tableUnit, this.#smooth);
    gl.activeTexture(gl.TEXTURE0 + tileUnit);
  }
}

/**
 * Returns the matrix `uToUnit` of the fragment shader, column by column. The matrix converts the distance of a device pixel from
 * the first corner of a tile to the fractions of the tile's width and height at which the pixel lies.
 *
 * @param corners corners of the tile, as in `Quad`
 */
function toUnitMatrix(corners: readonly number[]): readonly number[] {
  const [x0 = 0, y0 = 0, x1 = 0, y1 = 0, x2 = 0, y2 = 0] = corners;
  const [acrossX, acrossY, downX, downY] = [x1 - x0, y1 - y0, x2 - x0, y2 - y0];
  const area = acrossX * downY - acrossY * downX;
  return [downY / area, -acrossY / area, -downX / area, acrossX / area];
}

function createSampler(gl: WebGL2RenderingContext, filter: number): WebGLSampler {
  const sampler = gl.createSampler();
  if (sampler === null) throw new Error('WebGL could not create a sampler.');
  for (const wrap of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T, gl.TEXTURE_WRAP_R]) {
    gl.samplerParameteri(sampler, wrap, gl.CLAMP_TO_EDGE);
  }
  gl.samplerParameteri(sampler, gl.TEXTURE_MIN_FILTER, filter);
  gl.samplerParameteri(sampler, gl.TEXTURE_MAG_FILTER, filter);
  return sampler;
}

/** Uploads a colour table as a 3D texture; without a table, a texture of one black texel. */
function createTable(gl: WebGL2RenderingContext, table: ColourTable | null): WebGLTexture {
  const texture = gl.createTexture();
  const size = table?.size ?? 1;
  gl.activeTexture(gl.TEXTURE0 + tableUnit);
  gl.bindTexture(gl.TEXTURE_3D, texture);
  gl.texStorage3D(gl.TEXTURE_3D, 1, gl.RGB8, size, size, size);
  gl.pixelStorei(gl.UNPACK_ALIGNMENT, 1); // rows of three bytes per colour are not padded to multiples of four
  const [mipmapLevel, x, y, z] = [0, 0, 0, 0];
  gl.texSubImage3D(
    gl.TEXTURE_3D,
    mipmapLevel,
    x,
    y,
    z,
    size,
    size,
    size,
    gl.RGB,
    gl.UNSIGNED_BYTE,
    table?.samples ?? new Uint8Array(3),
  );
  return texture;
}
