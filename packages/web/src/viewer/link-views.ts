import { withinFullTurn } from './full-turn.ts';
import { type Placement, type Point, toImage } from './overlay/placement.ts';
import type { Calibration } from './scale.ts';
import type { SlideView } from './slide-view.ts';
import { followed, type Sight } from './synchronise.ts';
import type { SlideField } from './view-address.ts';

/** A view that shows a slide. */
export interface OpenedView {
  readonly view: Pick<SlideView, 'placement' | 'destination' | 'centre' | 'watch' | 'moveTo'>;
  readonly calibration: Calibration | null;
}

/** Of a comparison. */
export type Half = 'first' | 'second';

/**
 * From now on one follows each step of the other, and they keep to each other as they lie now, or will once a movement
 * has come to its end. Only what the leader does is followed: what comes of it on the other side leads to nothing.
 *
 * @param leaderNow the half that a person moves
 * @returns a function that ends it
 */
export function linkViews(opened: Readonly<Record<Half, OpenedView>>, leaderNow: () => Half): () => void {
  const first = sightOf(opened.first);
  const second = sightOf(opened.second);
  if (first === null || second === null) return () => {};
  const sights = { first, second };
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
    opened[follower].view.moveTo(followed(sights[leader], sights[follower], now));
    isFollowing = false;
  }

  // A window that changes its size moves both: the follower has to be told, too.
  const ends = [opened.first.view.watch(follow), opened.second.view.watch(follow)];
  return () => {
    for (const end of ends) end();
  };
}

function sightOf({ view, calibration }: OpenedView): Sight | null {
  const field = view.destination();
  return field === null ? null : { field, calibration };
}

/** What is seen at this step of a movement. @param centre of the place it is shown in, in CSS pixels */
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
