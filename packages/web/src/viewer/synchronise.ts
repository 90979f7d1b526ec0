/**
 * Computes how two slides that are shown side by side move together. The leader is the slide that the user moves. The
 * follower is the other slide; it repeats what the leader has done since the slides were linked: the same distance
 * over the tissue, the same zoom factor, the same rotation on the screen.
 */
import { withinFullTurn } from './full-turn.ts';
import type { Calibration } from './scale.ts';
import type { SlideField } from './view-address.ts';

/** The visible field of a slide with the slide's scale. */
export interface ViewPosition {
  readonly field: SlideField;
  /** Null when the size of the slide's pixels is unknown. */
  readonly calibration: Calibration | null;
}

/** Size of a slide in pixels at full resolution. */
interface Size {
  readonly width: number;
  readonly height: number;
}

/**
 * Returns the field that the follower must show.
 *
 * The centre of the follower moves by as many micrometres as the centre of the leader, in the same direction on the screen. When
 * one of the slides has no scale, the follower moves by the same distance on the screen instead.
 *
 * @param leader position of the leader at the moment of linking
 * @param follower position of the follower at the moment of linking
 * @param newLeaderField the leader's current field
 */
export function fieldOfFollower(
  leader: ViewPosition,
  follower: ViewPosition,
  newLeaderField: SlideField,
): SlideField {
  const leaderField = leader.field;
  const followerField = follower.field;
  const [leaderPixel, followerPixel] = pixelSizesOf(leader, follower);
  const leaderMovement = {
    x: (newLeaderField.x - leaderField.x) * leaderPixel.x,
    y: (newLeaderField.y - leaderField.y) * leaderPixel.y,
  };
  const followerMovement = screenToSlide(followerField, slideToScreen(leaderField, leaderMovement));
  // Mirroring is applied after the rotation. When only one slide is mirrored, the follower must therefore rotate in
  // the opposite direction.
  const rotationSign = leaderField.isMirrored === followerField.isMirrored ? 1 : -1;
  const hasMirroringChanged = leaderField.isMirrored !== newLeaderField.isMirrored;
  return {
    x: followerField.x + followerMovement.x / followerPixel.x,
    y: followerField.y + followerMovement.y / followerPixel.y,
    zoom: (followerField.zoom * newLeaderField.zoom) / leaderField.zoom,
    rotation: withinFullTurn(
      followerField.rotation + rotationSign * (newLeaderField.rotation - leaderField.rotation),
    ),
    isMirrored: followerField.isMirrored !== hasMirroringChanged,
  };
}

/**
 * Returns the first field of a slide that is opened beside another slide: the same magnification, rotation and distance
 * from the middle of the slide. When one of the slides has no scale, distances and zoom are adapted to the sizes of the
 * slides instead.
 *
 * @param source the slide that is already open
 * @param target the slide that is opened beside it
 */
export function correspondingField(
  source: ViewPosition & Size,
  target: Size & Pick<ViewPosition, 'calibration'>,
): SlideField {
  const { field, calibration, width, height } = source;
  // The larger ratio: if the whole source fits in the view, the whole target fits, too.
  const sizeRatio = Math.max(target.width / width, target.height / height);
  /** Pixels of the target per pixel of the source. */
  const [ratioX, ratioY] =
    calibration === null || target.calibration === null
      ? [sizeRatio, sizeRatio]
      : [calibration.mpp / target.calibration.mpp, mppYOf(calibration) / mppYOf(target.calibration)];
  return {
    ...field,
    x: target.width / 2 + (field.x - width / 2) * ratioX,
    y: target.height / 2 + (field.y - height / 2) * ratioY,
    zoom: field.zoom / ratioX,
  };
}

interface Vector {
  readonly x: number;
  readonly y: number;
}

/**
 * Returns the width and height of one image pixel of each slide in a unit that both share: micrometres, or screen pixels at the
 * moment of linking when one of them has no scale.
 */
function pixelSizesOf(leader: ViewPosition, follower: ViewPosition): readonly [Vector, Vector] {
  if (leader.calibration === null || follower.calibration === null) {
    return [
      { x: leader.field.zoom, y: leader.field.zoom },
      { x: follower.field.zoom, y: follower.field.zoom },
    ];
  }
  return [
    { x: leader.calibration.mpp, y: mppYOf(leader.calibration) },
    { x: follower.calibration.mpp, y: mppYOf(follower.calibration) },
  ];
}

function mppYOf({ mpp, mppY }: Calibration): number {
  return mppY ?? mpp;
}

/** Converts the direction of a vector from the slide to the screen: rotates it, then mirrors it. The length stays the same. */
function slideToScreen({ rotation, isMirrored }: SlideField, vector: Vector): Vector {
  const rotated = rotate(vector, rotation);
  return isMirrored ? { x: -rotated.x, y: rotated.y } : rotated;
}

/** Converts the direction of a vector from the screen to the slide; the inverse of `slideToScreen`. */
function screenToSlide({ rotation, isMirrored }: SlideField, vector: Vector): Vector {
  return rotate(isMirrored ? { x: -vector.x, y: vector.y } : vector, -rotation);
}

/** Rotates a vector clockwise as seen on the screen, where y points downwards. */
function rotate({ x, y }: Vector, degrees: number): Vector {
  const angle = (degrees * Math.PI) / 180;
  const [cos, sin] = [Math.cos(angle), Math.sin(angle)];
  return { x: x * cos - y * sin, y: x * sin + y * cos };
}
