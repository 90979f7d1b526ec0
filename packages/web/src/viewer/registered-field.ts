/** Where a registered slide shows the tissue that another slide shows. */
import { withinFullTurn } from './full-turn.ts';
import type { SlideField } from './view-address.ts';

/** [a, b, c, d, e, f]: x’ = a·x + c·y + e, y’ = b·x + d·y + f, in pixels of full resolution. */
export type Affine = readonly [number, number, number, number, number, number];

/** @returns null for a matrix that maps everything to a line */
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
 * Returns the field of the other slide: the same tissue in the middle, with the same size and direction on the screen. Sizes and
 * directions that differ over the slide are those of the x axis.
 */
export function registeredField([a, b, c, d, e, f]: Affine, field: SlideField): SlideField {
  const { x, y, zoom, rotation, isMirrored } = field;
  const determinant = a * d - b * c;
  const isReflected = determinant < 0;
  const turned = (Math.atan2(isReflected ? -b : b, isReflected ? -a : a) * 180) / Math.PI;
  return {
    x: a * x + c * y + e,
    y: b * x + d * y + f,
    zoom: zoom / Math.sqrt(Math.abs(determinant)),
    rotation: withinFullTurn((isReflected ? -rotation : rotation) - turned),
    isMirrored: isMirrored !== isReflected,
  };
}
