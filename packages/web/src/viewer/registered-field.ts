/**
 * Computes which field (visible part) of a slide shows the same tissue as the field of another slide. It uses the registration of
 * the two slides: the affine transformation from pixels of one slide to pixels of the other.
 */
import { withinFullTurn } from './full-turn.ts';
import type { SlideField } from './view-address.ts';

/** [a, b, c, d, e, f] for x’ = a·x + c·y + e, y’ = b·x + d·y + f, in pixels at full resolution. */
export type Affine = readonly [number, number, number, number, number, number];

/** Returns the inverse transformation; null when there is none, because the matrix maps everything to a line or a point. */
export function inverseOf([a, b, c, d, e, f]: Affine): Affine | null {
  const determinant = a * d - b * c;
  if (determinant === 0) return null;
  return [
    d / determinant,
    -b / determinant,
    -c / determinant,
    a / determinant,
    (c * f - d * e) / determinant,
    (b * e - a * f) / determinant,
  ];
}

/**
 * Returns the field of the other slide that shows the same tissue in the middle, in the same size and direction on the screen. If
 * the transformation also shears or stretches, the x axis keeps its direction on the screen and the area of the tissue stays the
 * same.
 *
 * @param field the field of the slide whose pixels the transformation converts
 */
export function registeredField([a, b, c, d, e, f]: Affine, field: SlideField): SlideField {
  const { x, y, zoom, rotation, isMirrored } = field;
  const determinant = a * d - b * c;
  const isReflected = determinant < 0;
  // A transformation with a reflection mirrors left and right (negates x) first and then rotates by this angle.
  const transformRotation = (Math.atan2(isReflected ? -b : b, isReflected ? -a : a) * 180) / Math.PI;
  return {
    x: a * x + c * y + e,
    y: b * x + d * y + f,
    zoom: zoom / Math.sqrt(Math.abs(determinant)),
    // A mirrored slide turns in the opposite direction.
    rotation: withinFullTurn((isReflected ? -rotation : rotation) - transformRotation),
    isMirrored: isMirrored !== isReflected,
  };
}
