/** The WebGL program that draws a tile and corrects and adjusts its colours in one pass. */

/** Vertex shader. The corners are uniforms, so that a tile is one draw call of four vertices without buffers. */
const vertexShader = `#version 300 es
precision highp float;
uniform vec2 uCanvas;
uniform vec2 uCorners[4];
void main() {
  vec2 clip = uCorners[gl_VertexID] / uCanvas * 2.0 - 1.0;
  gl_Position = vec4(clip.x, -clip.y, 0.0, 1.0);
}`;

/**
 * Fragment shader. It reads the texel and applies, in this order: colour table, white balance with brightness and contrast,
 * gamma, saturation, opacity.
 *
 * The position in the tile is computed from the pixel of the canvas. A position interpolated between the corners would
 * be as coarse as the rasteriser's grid, which OpenGL ES 3.0 allows to be a sixteenth of a pixel (`SUBPIXEL_BITS`). The
 * colour at the edge of a nucleus would then be wrong by up to 8 of 255 steps. `uCanvas` is the size of the canvas and
 * `uOrigin` the first corner of the tile, both in device pixels. `uToUnit` converts distances from this corner to
 * fractions of the tile, and `uPart` is the drawn part of the decoded tile: left, top, right, bottom from 0 to 1.
 * `uTableSize` is 0 without a colour table. With a table, a sample of 0 reads the centre of the first texel, and a
 * sample of 1 the centre of the last. The output has premultiplied alpha.
 */
const fragmentShader = `#version 300 es
precision highp float;
uniform sampler2D uTile;
uniform highp sampler3D uTable;
uniform float uTableSize;
uniform bool uIsAdjusted;
uniform vec3 uSlope;
uniform float uIntercept;
uniform float uExponent;
uniform mat3 uSaturation;
uniform float uOpacity;
uniform vec2 uCanvas;
uniform vec2 uOrigin;
uniform mat2 uToUnit;
uniform vec4 uPart;
out vec4 drawn;
void main() {
  vec2 pixel = vec2(gl_FragCoord.x, uCanvas.y - gl_FragCoord.y);
  vec4 stored = texture(uTile, mix(uPart.xy, uPart.zw, uToUnit * (pixel - uOrigin)));
  vec3 colour = stored.rgb;
  if (uTableSize > 0.0) colour = texture(uTable, (colour * (uTableSize - 1.0) + 0.5) / uTableSize).rgb;
  if (uIsAdjusted) {
    colour = pow(clamp(colour * uSlope + uIntercept, 0.0, 1.0), vec3(uExponent));
    colour = clamp(uSaturation * colour, 0.0, 1.0);
  }
  float alpha = stored.a * uOpacity;
  drawn = vec4(colour * alpha, alpha);
}`;

const uniformNames = [
  'uCanvas',
  'uCorners',
  'uOrigin',
  'uToUnit',
  'uPart',
  'uTile',
  'uTable',
  'uTableSize',
  'uIsAdjusted',
  'uSlope',
  'uIntercept',
  'uExponent',
  'uSaturation',
  'uOpacity',
] as const;

export interface TileProgram {
  readonly program: WebGLProgram;
  readonly uniforms: Readonly<Record<(typeof uniformNames)[number], WebGLUniformLocation | null>>;
}

/** Compiles the program. @throws Error when the driver rejects the program */
export function createTileProgram(gl: WebGL2RenderingContext): TileProgram {
  const program = gl.createProgram();
  for (const [kind, text] of [
    [gl.VERTEX_SHADER, vertexShader],
    [gl.FRAGMENT_SHADER, fragmentShader],
  ] as const) {
    const shader = gl.createShader(kind);
    if (shader === null) continue; // the context is lost; after any other failure, the check of `LINK_STATUS` throws
    gl.shaderSource(shader, text);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
    gl.deleteShader(shader);
  }
  gl.linkProgram(program);
  // A lost context links no program; the drawer creates the program again when the context is restored.
  if (!gl.getProgramParameter(program, gl.LINK_STATUS) && !gl.isContextLost()) {
    throw new Error(`WebGL could not link the program of the tiles: ${gl.getProgramInfoLog(program)}`);
  }
  const uniforms = Object.fromEntries(
    uniformNames.map((name) => [name, gl.getUniformLocation(program, name)]),
  );
  return { program, uniforms: uniforms as TileProgram['uniforms'] };
}
