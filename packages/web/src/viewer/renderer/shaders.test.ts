import { describe, expect, it } from 'vitest';
import { createTileProgram } from './shaders.ts';

/** A WebGL context that creates no shaders and links no program, as a lost one. */
function contextWithoutShaders(isContextLost: boolean): WebGL2RenderingContext {
  const context: Partial<WebGL2RenderingContext> = {
    createProgram: () => ({}) as WebGLProgram,
    createShader: () => null,
    linkProgram: () => undefined,
    getProgramParameter: () => null,
    getProgramInfoLog: () => 'missing shader',
    getUniformLocation: () => null,
    isContextLost: () => isContextLost,
  };
  return context as WebGL2RenderingContext;
}

describe('createTileProgram (WebGL program of the tiles)', () => {
  it('returns a program whose uniform locations are null when the WebGL context is lost', () => {
    expect(createTileProgram(contextWithoutShaders(true)).uniforms.uTile).toBeNull();
  });

  it('throws when the driver rejects the program', () => {
    expect(() => createTileProgram(contextWithoutShaders(false))).toThrow('missing shader');
  });
});
