/** Links the views of two slides that are compared side by side: one view follows the movements of the other. */
import { withinFullTurn } from './full-turn.ts';
import { type Placement, type Point, toImage } from './overlay/placement.ts';
import { type Affine, inverseOf, registeredField } from './registered-field.ts';
import type { Calibration } from './scale.ts';
import type { SlideView } from './slide-view.ts';
import { fieldOfFollower, type ViewPosition } from './synchronise.ts';
import type { SlideField } from './view-address.ts';

/** The view of an open slide. */
export interface OpenedView {
  readonly view: Pick<SlideView, 'placement' | 'destination' | 'centre' | 'watch' | 'moveTo'>;
  readonly calibration: Calibration | null; // null for a slide without a scale
}

/** One side of the comparison: `first` is on the left. */
export type Half = 'first' | 'second';

/** Two views that move together. */
export interface LinkedViews {
  /**
   * Completes a running movement of the leader immediately. Must be called before the other side becomes the leader;
   * otherwise the follower would stop at the current step of the movement.
   */
  completeMovement(): void;
  unlink(): void;
}

/**
 * Links two views. The leader is the view that the user moves. The follower is the other view; it repeats each step of
 * the leader's movements.
 *
 * @param leaderNow returns the side that the user moves
 * @param registration the affine transformation from a pixel of the first slide to the pixel of the second with the
 *   same tissue. Null: the follower repeats the movements relative to the fields (visible parts) that both views have
 *   when they are linked. For a view that is moving at this time, the field at the end of the movement counts
 * @returns null while one of the views has no open slide
 */
export function linkViews(
  opened: Readonly<Record<Half, OpenedView>>,
  leaderNow: () => Half,
  registration: Affine | null = null,
): LinkedViews | null {
  const first = viewPositionOf(opened.first);
  const second = viewPositionOf(opened.second);
  if (first === null || second === null) return null;
  const positionsAtLinking = { first, second };
  const inverseRegistration = registration === null ? null : inverseOf(registration);
  let isFollowing = false;

  function follow() {
    if (isFollowing) return;
    const leader = leaderNow();
    const follower = leader === 'first' ? 'second' : 'first';
    const { view } = opened[leader];
    const placement = view.placement();
    if (placement === null) return;
    const leaderField = fieldOf(placement, view.centre());
    isFollowing = true; // `moveTo` below calls `follow` again, because the follower is watched, too
    const transform = leader === 'first' ? registration : inverseRegistration;
    const field =
      transform === null
        ? fieldOfFollower(positionsAtLinking[leader], positionsAtLinking[follower], leaderField)
        : registeredField(transform, leaderField);
    opened[follower].view.moveTo(field);
    isFollowing = false;
  }

  if (registration !== null) follow(); // shows the same tissue before the first movement
  // Both views are watched, because the follower may also move by itself, such as when the window is resized.
  const subscriptions = [opened.first.view.watch(follow), opened.second.view.watch(follow)];
  return {
    completeMovement: () => {
      const { view } = opened[leaderNow()];
      const field = view.destination();
      if (field !== null) view.moveTo(field);
    },
    unlink: () => {
      for (const unsubscribe of subscriptions) unsubscribe();
    },
  };
}

/** Returns the scale and the field of a view (at the end of a running movement); null while no slide is open. */
function viewPositionOf({ view, calibration }: OpenedView): ViewPosition | null {
  const field = view.destination();
  return field === null ? null : { field, calibration };
}

/**
 * Returns the field that is visible with a placement (the transformation from image pixels to the screen).
 *
 * @param centre middle of the viewer in CSS pixels from its top left
 */
export function fieldOf(placement: Placement, centre: Point): SlideField {
  const { a, b, c, d } = placement;
  const isMirrored = a * d - b * c < 0; // the determinant of a reflection is negative
  const degrees = (Math.atan2(b, isMirrored ? -a : a) * 180) / Math.PI; // of the image's x axis, before mirroring
  return {
    ...toImage(placement, centre),
    zoom: Math.hypot(a, b),
    rotation: withinFullTurn(degrees),
    isMirrored,
  };
}
