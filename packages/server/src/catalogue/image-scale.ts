/**
 * Determines the scale (pixel size and magnification) of a catalogue entry: the scale that an administrator has entered,
 * otherwise the scale that the file states. If only one of the two values is known, the other one is derived from it.
 */
import { scaleOf } from '@lamina/slide/scale';
import type { ImageChanges, ImageRow } from '../store/images.ts';

type FileScale = Pick<ImageRow, 'file_mpp_x' | 'file_mpp_y' | 'file_objective_power'>;
type EnteredScale = Pick<ImageRow, 'entered_mpp' | 'entered_objective_power'>;
type UsedScale = Pick<ImageRow, 'mpp_x' | 'mpp_y' | 'objective_power' | 'derived_scale'>;

/**
 * Returns the scale to use, as columns of the entry: micrometres per pixel and objective power. If an administrator has entered
 * only one of the two values, the other one is derived from it and not taken from the file.
 */
export function usedScale(row: FileScale & EnteredScale): UsedScale {
  const {
    file_mpp_x: x,
    file_mpp_y: y,
    entered_mpp: mppEntered,
    entered_objective_power: powerEntered,
  } = row;
  const isEntered = mppEntered !== null || powerEntered !== null;
  const knownScale = isEntered
    ? { mpp: mppEntered === null ? null : { x: mppEntered, y: mppEntered }, objectivePower: powerEntered }
    : { mpp: x === null || y === null ? null : { x, y }, objectivePower: row.file_objective_power };
  const { mpp, objectivePower, derived } = scaleOf(knownScale);
  return {
    mpp_x: mpp?.x ?? null,
    mpp_y: mpp?.y ?? null,
    objective_power: objectivePower,
    // The database spells this value in snake case, scaleOf() in camel case.
    derived_scale: derived === 'objectivePower' ? 'objective_power' : derived,
  };
}

/** A scale that an administrator enters: micrometres per pixel, magnification, or both. Null removes the entered scale. */
export type Calibration = {
  readonly mpp?: number | undefined;
  readonly objective_power?: number | undefined;
} | null;

/** Returns the changes that set or remove an entered scale; empty when the entry already has this scale. */
export function changesByCalibration(row: ImageRow, calibration: Calibration): ImageChanges {
  const entered = {
    entered_mpp: calibration?.mpp ?? null,
    entered_objective_power: calibration?.objective_power ?? null,
  };
  const isSame =
    entered.entered_mpp === row.entered_mpp &&
    entered.entered_objective_power === row.entered_objective_power;
  return isSame ? {} : { ...entered, ...usedScale({ ...row, ...entered }) };
}
