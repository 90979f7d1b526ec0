/** Chooses the drawer of a view: WebGL 2 on computers with a graphics card, else a 2D canvas. */
import { limitPictures, pictureLimitOf } from './renderer/picture-limit.ts';
import { Renderer } from './renderer/renderer.ts';

/**
 * WebGL in software (virtual desktops, remote sessions, browsers without a graphics card):
 * SwiftShader of Chromium, llvmpipe and softpipe of Mesa, Basic Render of Windows, Apple Software Renderer.
 */
const softwareRenderer = /swiftshader|llvmpipe|softpipe|basic render|software/i;

/** Forces the choice, for support and for tests: `webgl` or `canvas` in the browser's local storage under this key. */
const choiceKey = 'viewer_drawer';

/** Memory of the device in GB; only some browsers tell it. */
type NavigatorWithMemory = Navigator & { readonly deviceMemory?: number };

/** @param renderer name of the graphics hardware from WebGL; null without WebGL */
export function isSoftwareRendered(renderer: string | null): boolean {
  return renderer === null || softwareRenderer.test(renderer);
}

/**
 * Returns the renderer of a new view. Without graphics hardware it draws on a 2D canvas: WebGL in software takes ten times as
 * long for a screen of tiles (measured with SwiftShader: 7 s in place of 0.7 s).
 */
export function createRenderer(): Renderer {
  limitPictures(pictureLimitOf((navigator as NavigatorWithMemory).deviceMemory));
  const choice = choiceOf();
  const context = choice === 'canvas' ? null : createContext(choice === 'webgl');
  return new Renderer(context, choice !== null);
}

/** @param isForced whether WebGL in software is accepted, too */
function createContext(isForced: boolean): WebGL2RenderingContext | null {
  const context = document.createElement('canvas').getContext('webgl2', {
    // The tiles cover everything; edges between them must not be smoothed.
    antialias: false,
    depth: false,
    stencil: true, // for polygons of layers
    alpha: true,
    premultipliedAlpha: true,
    powerPreference: 'high-performance',
    failIfMajorPerformanceCaveat: !isForced,
  });
  if (context === null || isForced) return context;
  const names = context.getExtension('WEBGL_debug_renderer_info');
  const renderer = context.getParameter(
    names === null ? context.RENDERER : names.UNMASKED_RENDERER_WEBGL,
  ) as string;
  if (!isSoftwareRendered(renderer)) return context;
  context.getExtension('WEBGL_lose_context')?.loseContext();
  return null;
}

function choiceOf(): 'webgl' | 'canvas' | null {
  try {
    const choice = localStorage.getItem(choiceKey);
    return choice === 'webgl' || choice === 'canvas' ? choice : null;
  } catch {
    return null; // the browser forbids storage
  }
}
