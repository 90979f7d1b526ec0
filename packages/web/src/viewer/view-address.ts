/** The visible field of a slide as parameters of the page's address. */
import { withinFullTurn } from './full-turn.ts';

export interface SlideField {
  /** Centre in image pixels at full resolution from the top left. */
  readonly x: number;
  readonly y: number;
  /** Screen pixels per image pixel. */
  readonly zoom: number;
  /** Degrees clockwise, 0 to 360. */
  readonly rotation: number;
  readonly isMirrored: boolean;
}

/** 0.1 pixel, and a zoom precise enough for one pixel at the edge of a wide screen. */
const positionDigits = 1;
const zoomDigits = 6;

/**
 * Returns the parameters of a field by name. Rotation and mirror are omitted when there are none.
 *
 * @param prefix of the names, for an address with two fields
 */
export function formatField(
  { x, y, zoom, rotation, isMirrored }: SlideField,
  prefix = '',
): Record<string, string> {
  const degrees = Number(rotation.toFixed(positionDigits)) % 360;
  return {
    [`${prefix}x`]: String(Number(x.toFixed(positionDigits))),
    [`${prefix}y`]: String(Number(y.toFixed(positionDigits))),
    [`${prefix}zoom`]: String(Number(zoom.toPrecision(zoomDigits))),
    ...(degrees !== 0 && { [`${prefix}rotation`]: String(degrees) }),
    ...(isMirrored && { [`${prefix}mirror`]: '1' }),
  };
}

/**
 * Returns null when centre or zoom are missing or invalid: the viewer then shows the whole slide.
 *
 * @param prefix of the names
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

function numberOf(text: string | null): number | null {
  if (text === null || !/^-?\d+(\.\d+)?(e-?\d{1,2})?$/.test(text)) return null;
  const number = Number(text);
  return Number.isFinite(number) ? number : null;
}
