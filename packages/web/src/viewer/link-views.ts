import { withinFullTurn } from './full-turn.ts';
import { type Placement, type Point, toImage } from './overlay/placement.ts';
import { type Affine, inverseOf, registeredField } from './registered-field.ts';
import type { Calibration } from './scale.ts';
import type { SlideView } from './slide-view.ts';
import { followed, type ViewPosition } from './synchronise.ts';
import type { SlideField } from './view-address.ts';

/** A view that shows a slide. */
export interface OpenedView {
  readonly view: Pick<SlideView, 'placement' | 'destination' | 'centre' | 'watch' | 'moveTo'>;
  readonly calibration: Calibration | null;
}

/** Side of a comparison. */
export type Half = 'first' | 'second';

/** Two views that move together. */
export interface LinkedViews {
  /**
   * Completes a running movement of the leader at once. Must be called before the other side becomes the leader: the
   * slides would else stay where the movement was at that moment.
   */
  completeMovement(): void;
  unlink(): void;
}

/**
 * Links two views: the follower repeats each step of the leader, relative to how both lie now, or at the end of a running
 * movement. Movements of the follower caused by this do not move the leader.
 *
 * @param leaderNow returns the side that the person moves
 * @param registration from pixels of the first to pixels of the second slide; null: relative to how both lie now
 * @returns null while one of them shows nothing
 */
export function linkViews(
  opened: Readonly<Record<Half, OpenedView>>,
  leaderNow: () => Half,
  registration: Affine | null = null,
): LinkedViews | null {
  const first = sightOf(opened.first);
  const second = sightOf(opened.second);
  if (first === null || second === null) return null;
  const sights = { first, second };
  const back = registration === null ? null : inverseOf(registration);
  let isFollowing = false;

  function follow() {
    if (isFollowing) return;
    const leader = leaderNow();
    const follower = leader === 'first' ? 'second' : 'first';
    const { view } = opened[leader];
    const placement = view.placement();
    if (placement === null) return;
    const now = fieldOf(placement, view.centre());
    isFollowing = true;
    const transform = leader === 'first' ? registration : back;
    const field =
      transform === null ? followed(sights[leader], sights[follower], now) : registeredField(transform, now);
    opened[follower].view.moveTo(field);
    isFollowing = false;
  }

  if (registration !== null) follow();
  // A window resize moves both views, so the follower must be adjusted too.
  const ends = [opened.first.view.watch(follow), opened.second.view.watch(follow)];
  return {
    completeMovement: () => {
      const { view } = opened[leaderNow()];
      const field = view.destination();
      if (field !== null) view.moveTo(field);
    },
    unlink: () => {
      for (const end of ends) end();
    },
  };
}

function sightOf({ view, calibration }: OpenedView): ViewPosition | null {
  const field = view.destination();
  return field === null ? null : { field, calibration };
}

/** Returns the visible field at this step of a movement. @param centre of the viewer, in CSS pixels */
export function fieldOf(placement: Placement, centre: Point): SlideField {
  const { a, b, c, d } = placement;
  const isMirrored = a * d - b * c < 0;
  const degrees = (Math.atan2(b, isMirrored ? -a : a) * 180) / Math.PI;
  return {
    ...toImage(placement, centre),
    zoom: Math.hypot(a, b),
    rotation: withinFullTurn(degrees),
    isMirrored,
  };
}
