/**
 * Two slides side by side that move together. What one does since they were linked the other does too: as far over
 * the tissue, by the same factor, by the same angle as it is seen.
 */
import { withinFullTurn } from './full-turn.ts';
import type { Calibration } from './scale.ts';
import type { SlideField } from './view-address.ts';

/** How a slide is seen. */
export interface Sight {
  readonly field: SlideField;
  /** Null where nobody knows how large its pixels are. */
  readonly calibration: Calibration | null;
}

interface Size {
  /** Image pixels at full resolution. */
  readonly width: number;
  readonly height: number;
}

/**
 * What the follower has to show.
 *
 * Its centre moves by the micrometres that the leader's has moved, in the direction in which it is seen to move; where
 * one of them is not calibrated, as far as it is seen to move on the screen.
 *
 * @param leader and follower: how both were seen when they were linked
 * @param now what the leader shows
 */
export function followed(leader: Sight, follower: Sight, now: SlideField): SlideField {
  const led = leader.field;
  const following = follower.field;
  const [from, to] = unitsOf(leader, follower);
  const moved = { x: (now.x - led.x) * from.x, y: (now.y - led.y) * from.y };
  const there = unseenBy(following, seenBy(led, moved));
  // The mirror stands before the turned slide: where only one of them is mirrored, they turn against each other.
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
 * Where a slide begins beside another: as large, turned alike, and as far from its middle. Where one of them is not
 * calibrated, the same part of it.
 */
export function correspondingField(
  { field, calibration, width, height }: Sight & Size,
  beside: Size & Pick<Sight, 'calibration'>,
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

/** What one image pixel of each is, to the right and downwards: micrometres, or pixels of the screen when they were linked. */
function unitsOf(one: Sight, other: Sight): readonly [Vector, Vector] {
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

/** A way on the slide, as it is seen: turned, then mirrored. */
function seenBy({ rotation, isMirrored }: SlideField, way: Vector): Vector {
  const turned = turn(way, rotation);
  return isMirrored ? { x: -turned.x, y: turned.y } : turned;
}

function unseenBy({ rotation, isMirrored }: SlideField, way: Vector): Vector {
  return turn(isMirrored ? { x: -way.x, y: way.y } : way, -rotation);
}

/** Clockwise, with y downwards. */
function turn({ x, y }: Vector, degrees: number): Vector {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
