import type { Case } from '@lamina/contract';
import { Alert, Button } from '@mantine/core';
import { useState } from 'react';
import { createPortal } from 'react-dom';
import { registerSlides } from '../../api/cases.ts';
import type { Half } from '../../viewer/link-views.ts';
import type { Point } from '../../viewer/overlay/placement.ts';
import type { SlideView } from '../../viewer/slide-view.ts';
import { SlideMarks } from '../../viewer/tour/SlideMarks.tsx';
import classes from './RegisterSlides.module.css';
import { texts } from './texts.ts';
import { halves } from './viewed-address.ts';

/** Two pairs of points determine shift, rotation and scale. */
const minPairs = 2;
/**
 * A third pair also corrects stretching. With two or three pairs, the points of each pair always coincide after the registration. The
 * remaining distance in the response (`residual_um`) is therefore 0, says nothing about the accuracy, and is not shown.
 */
const maxPairs = 3;

interface RegisterSlidesProps {
  readonly slideCase: Case;
  /** The slides in the halves of the viewer, and their views. */
  readonly imageIds: Readonly<Record<Half, string>>;
  readonly views: Readonly<Record<Half, SlideView>>;
  readonly onClose: () => void;
}

/**
 * Lets a user register two slides of a case that are open side by side: the user clicks the same places in both slides, and the
 * server computes from these pairs of points how to align the slides.
 */
export function RegisterSlides({ slideCase, imageIds, views, onClose }: RegisterSlidesProps) {
  /** The points that the user has placed in each slide, in pixels at full resolution. */
  const [points, setPoints] = useState<Readonly<Record<Half, readonly Point[]>>>(noPoints);
  /** Whether a click in a slide places a point. */
  const [isMarking, setMarking] = useState(true);
  const [isRunning, setRunning] = useState(false);
  const [isRegistered, setRegistered] = useState(false);
  const [error, setError] = useState<string | null>(null);
  const pairCount = Math.min(points.first.length, points.second.length);
  const progress = pairCount < minPairs ? texts.registerHint : texts.pairsPlaced(pairCount);
  // The user completes one pair after the other, so one slide has at most one point more than the other.
  const canMark = (half: Half) =>
    isMarking && points[half].length < maxPairs && points[half].length <= points[otherOf(half)].length;

  async function save() {
    setRunning(true);
    const response = await registerSlides(slideCase.id, {
      from_image: imageIds.first,
      to_image: imageIds.second,
      points: points.first.slice(0, pairCount).map((from, index) => ({
        from: coordinatesOf(from),
        to: coordinatesOf(points.second[index] ?? from), // `from` is never used, because `index` is below `pairCount`
      })),
    });
    setRunning(false);
    if ('error' in response) return setError(response.error);
    setError(null);
    setMarking(false);
    setRegistered(true);
  }

  return (
    <section className={classes.bar} aria-label={texts.register}>
      <p role="status">{isRegistered ? texts.registered : progress}</p>
      {error !== null && <Alert color="red">{error}</Alert>}
      <Button
        size="xs"
        variant={isMarking ? 'filled' : 'default'}
        aria-pressed={isMarking}
        onClick={() => setMarking(!isMarking)}
      >
        {texts.placePoints}
      </Button>
      <Button
        size="xs"
        variant="default"
        onClick={() => {
          setPoints(noPoints);
          setRegistered(false);
          setMarking(true);
        }}
      >
        {texts.startAgain}
      </Button>
      <Button
        size="xs"
        disabled={pairCount < minPairs || isRegistered}
        loading={isRunning}
        onClick={() => void save()}
      >
        {texts.registerNow}
      </Button>
      <Button size="xs" variant="default" onClick={onClose}>
        {texts.close}
      </Button>
      {/* Draws the points over each slide, in the element of its view. */}
      {halves.map((half) =>
        createPortal(
          <SlideMarks
            view={views[half]}
            points={points[half]}
            onMark={
              canMark(half) ? (point) => setPoints({ ...points, [half]: [...points[half], point] }) : null
            }
            label={texts.registerHint}
          />,
          views[half].element(),
          half, // the React key
        ),
      )}
    </section>
  );
}

const noPoints: Readonly<Record<Half, readonly Point[]>> = { first: [], second: [] };

function otherOf(half: Half): Half {
  return half === 'first' ? 'second' : 'first';
}

function coordinatesOf({ x, y }: Point): [number, number] {
  return [x, y];
}
