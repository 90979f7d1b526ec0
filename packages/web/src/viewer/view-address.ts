/** Writes the visible field of a slide into the query parameters of the page's URL and reads it from them. */
import { withinFullTurn } from './full-turn.ts';

/** The part of a slide that a viewer shows. */
export interface SlideField {
  /** Centre in image pixels at full resolution from the top left. */
  readonly x: number;
  readonly y: number;
  /** CSS pixels per image pixel at full resolution. */
  readonly zoom: number;
  /** In degrees clockwise, from 0 (inclusive) to 360 (exclusive). */
  readonly rotation: number;
  /** Whether left and right are exchanged on the screen, after the rotation. */
  readonly isMirrored: boolean;
}

/** Number of decimals of positions in pixels, and of the rotation in degrees. */
const decimals = 1;
/** Significant digits of the zoom: the rounding moves the edge of a wide screen by less than one image pixel. */
const zoomDigits = 6;

/**
 * Returns the query parameters of a field. Rotation and mirroring are omitted when the slide has none.
 *
 * @param prefix of the parameter names, for a URL with the fields of two slides
 */
export function formatField(
  { x, y, zoom, rotation, isMirrored }: SlideField,
  prefix = '',
): Record<string, string> {
  const degrees = Number(rotation.toFixed(decimals)) % 360; // rounding may result in 360, which equals 0
  return {
    [`${prefix}x`]: String(Number(x.toFixed(decimals))),
    [`${prefix}y`]: String(Number(y.toFixed(decimals))),
    [`${prefix}zoom`]: String(Number(zoom.toPrecision(zoomDigits))),
    ...(degrees !== 0 && { [`${prefix}rotation`]: String(degrees) }),
    ...(isMirrored && { [`${prefix}mirror`]: '1' }),
  };
}

/**
 * Reads a field from query parameters. Returns null when the centre or the zoom is missing or invalid: the viewer then shows the
 * whole slide.
 *
 * @param prefix of the parameter names
 */
export function parseField(parameters: URLSearchParams, prefix = ''): SlideField | null {
  const x = numberOf(parameters.get(`${prefix}x`));
  const y = numberOf(parameters.get(`${prefix}y`));
  const zoom = numberOf(parameters.get(`${prefix}zoom`));
  if (x === null || y === null || zoom === null || zoom <= 0) return null;
  const rotation = numberOf(parameters.get(`${prefix}rotation`)) ?? 0;
  return {
    x,
    y,
    zoom,
    rotation: withinFullTurn(rotation),
    isMirrored: parameters.get(`${prefix}mirror`) === '1',
  };
}

/** Parses a parameter such as `-3.5` or `1e-7`; returns null when the parameter is missing or not such a number. */
function numberOf(text: string | null): number | null {
  if (text === null || !/^-?\d+(\.\d+)?(e-?\d{1,2})?$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}
