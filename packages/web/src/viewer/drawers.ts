/**
 * Creates the renderer of a view, and thereby chooses how OpenSeadragon draws tiles: with WebGL 2 on computers with a graphics
 * card, and on a 2D canvas on other computers.
 */
import { pictureLimitOf, setPictureLimit } from './renderer/picture-limit.ts';
import { Renderer } from './renderer/renderer.ts';

/**
 * WebGL's names of renderers that run it on the processor (virtual desktops, remote sessions, browsers without a graphics card):
 * Chromium's SwiftShader, Mesa's llvmpipe and softpipe, Windows' Basic Render, Apple Software Renderer.
 */
const softwareRendererNames = /swiftshader|llvmpipe|softpipe|basic render|software/i;

/** Key in the browser's local storage; its value `webgl` or `canvas` forces the choice, for support and for tests. */
const forcedDrawerKey = 'viewer_drawer';

/** `deviceMemory` is the memory of the device in GB; only some browsers have it. */
type NavigatorWithMemory = Navigator & { readonly deviceMemory?: number };

/**
 * Returns whether WebGL would run on the processor, or is missing.
 *
 * @param rendererName name of the graphics hardware as WebGL reports it; null without WebGL
 */
export function isSoftwareRendered(rendererName: string | null): boolean {
  return rendererName === null || softwareRendererNames.test(rendererName);
}

/**
 * Creates the renderer of a new view. Without graphics hardware, the view is drawn on a 2D canvas, because WebGL in software takes
 * ten times as long for a screen of tiles (measured with SwiftShader: 7 s instead of 0.7 s).
 */
export function createRenderer(): Renderer {
  // Limits the memory for pictures (decoded tiles).
  setPictureLimit(pictureLimitOf((navigator as NavigatorWithMemory).deviceMemory));
  const forcedDrawer = forcedDrawerOrNull();
  const context = forcedDrawer === 'canvas' ? null : createContext(forcedDrawer === 'webgl');
  const isForced = forcedDrawer !== null; // then slow WebGL frames do not make the view switch to a 2D canvas
  return new Renderer(context, isForced);
}

/** Returns a WebGL 2 context; null if the browser has none, or only in software and `isWebGlForced` is false. */
function createContext(isWebGlForced: boolean): WebGL2RenderingContext | null {
  const context = document.createElement('canvas').getContext('webgl2', {
    // Smoothed edges would show as seams between neighbouring tiles.
    antialias: false,
    depth: false,
    alpha: true,
    premultipliedAlpha: true,
    powerPreference: 'high-performance',
    failIfMajorPerformanceCaveat: !isWebGlForced, // no context if WebGL would be slow
  });
  if (context === null || isWebGlForced) return context;
  const extension = context.getExtension('WEBGL_debug_renderer_info');
  const rendererName = context.getParameter(
    extension === null ? context.RENDERER : extension.UNMASKED_RENDERER_WEBGL,
  ) as string;
  if (!isSoftwareRendered(rendererName)) return context;
  context.getExtension('WEBGL_lose_context')?.loseContext(); // frees its memory
  return null;
}

/** Returns the drawer that the local storage forces; null when it forces none. */
function forcedDrawerOrNull(): 'webgl' | 'canvas' | null {
  try {
    const choice = localStorage.getItem(forcedDrawerKey);
    return choice === 'webgl' || choice === 'canvas' ? choice : null;
  } catch {
    return null; // the browser forbids storage
  }
}
