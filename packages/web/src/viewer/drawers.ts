/** Which of OpenSeadragon's ways to draw suits this computer. */

/**
 * WebGL done by the processor (virtual desktops, remote sessions, browsers without a graphics card):
 * SwiftShader of Chromium, llvmpipe and softpipe of Mesa, Basic Render of Windows, Apple Software Renderer.
 */
const softwareRenderer = /swiftshader|llvmpipe|softpipe|basic render|software/i;

/** @param renderer name of the graphics hardware as WebGL tells it; null without WebGL */
export function isDrawnByProcessor(renderer: string | null): boolean {
  return renderer === null || softwareRenderer.test(renderer);
}

/**
 * In the order to try. Without graphics hardware the canvas alone: WebGL would draw there, too, but a
 * screen of tiles takes ten times as long (measured with SwiftShader: 7 s in place of 0.7 s).
 */
export function drawersHere(): ('webgl' | 'canvas')[] {
  return isDrawnByProcessor(rendererHere()) ? ['canvas'] : ['webgl', 'canvas'];
}

function rendererHere(): string | null {
  const gl = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (gl === null) return null;
  const names = gl.getExtension('WEBGL_debug_renderer_info');
  const renderer = gl.getParameter(names === null ? gl.RENDERER : names.UNMASKED_RENDERER_WEBGL) as string;
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return renderer;
}
