/**
 * Synchronises two slides side by side. The follower repeats the leader's movement since they were linked: the same
 * distance over the tissue, the same zoom factor, the same rotation on the screen.
 */
import { withinFullTurn } from './full-turn.ts';
import type { Calibration } from './scale.ts';
import type { SlideField } from './view-address.ts';

/** How a slide is seen. */
export interface ViewPosition {
  readonly field: SlideField;
  /** Null without a scale. */
  readonly calibration: Calibration | null;
}

interface Size {
  /** Image pixels at full resolution. */
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the field that the follower must show.
 *
 * Its centre moves by the same micrometres as the leader's, in the same direction on the screen; when one of them has no
 * scale, by the same distance on the screen.
 *
 * @param leader and follower: both fields when they were linked
 * @param now the leader's current field
 */
export function followed(leader: ViewPosition, follower: ViewPosition, now: SlideField): SlideField {
  const led = leader.field;
  const following = follower.field;
  const [from, to] = unitsOf(leader, follower);
  const moved = { x: (now.x - led.x) * from.x, y: (now.y - led.y) * from.y };
  const there = unseenBy(following, seenBy(led, moved));
  // The mirror is applied after the rotation: when only one slide is mirrored, they rotate in opposite directions.
  const sense = led.isMirrored === following.isMirrored ? 1 : -1;
  return {
    x: following.x + there.x / to.x,
    y: following.y + there.y / to.y,
    zoom: (following.zoom * now.zoom) / led.zoom,
    rotation: withinFullTurn(following.rotation + sense * (now.rotation - led.rotation)),
    isMirrored: following.isMirrored !== (led.isMirrored !== now.isMirrored),
  };
}

/**
 * Returns the first field of a slide beside another: same magnification, rotation and distance from its middle. When one of
 * them has no scale, the same relative field.
 */
export function correspondingField(
  { field, calibration, width, height }: ViewPosition & Size,
  beside: Size & Pick<ViewPosition, 'calibration'>,
): SlideField {
  const larger = Math.max(beside.width / width, beside.height / height);
  const [x, y] =
    calibration === null || beside.calibration === null
      ? [larger, larger]
      : [calibration.mpp / beside.calibration.mpp, mppYOf(calibration) / mppYOf(beside.calibration)];
  return {
    ...field,
    x: beside.width / 2 + (field.x - width / 2) * x,
    y: beside.height / 2 + (field.y - height / 2) * y,
    zoom: field.zoom / x,
  };
}

interface Vector {
  readonly x: number;
  readonly y: number;
}

/** Returns the unit of one image pixel of each, horizontally and vertically: micrometres, or screen pixels at linking. */
function unitsOf(one: ViewPosition, other: ViewPosition): readonly [Vector, Vector] {
  if (one.calibration === null || other.calibration === null) {
    return [
      { x: one.field.zoom, y: one.field.zoom },
      { x: other.field.zoom, y: other.field.zoom },
    ];
  }
  return [
    { x: one.calibration.mpp, y: mppYOf(one.calibration) },
    { x: other.calibration.mpp, y: mppYOf(other.calibration) },
  ];
}

function mppYOf({ mpp, mppY }: Calibration): number {
  return mppY ?? mpp;
}

/** Converts a vector on the slide to the screen: rotated, then mirrored. */
function seenBy({ rotation, isMirrored }: SlideField, way: Vector): Vector {
  const turned = turn(way, rotation);
  return isMirrored ? { x: -turned.x, y: turned.y } : turned;
}

function unseenBy({ rotation, isMirrored }: SlideField, way: Vector): Vector {
  return turn(isMirrored ? { x: -way.x, y: way.y } : way, -rotation);
}

/** Rotates clockwise, with y downwards. */
function turn({ x, y }: Vector, degrees: number): Vector {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
