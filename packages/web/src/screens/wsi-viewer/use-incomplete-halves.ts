import { useMemo, useState } from 'react';
import type { Half } from '../../viewer/link-views.ts';
import type { Incompleteness } from '../../viewer/PictureNotes.tsx';

type IncompleteHalves = Readonly<Record<Half, Incompleteness | null>>;

const completeHalves: IncompleteHalves = { first: null, second: null };

/**
 * Returns why tiles are missing in each half of the viewer, that is for each of two compared slides (null: no tile is missing), and the
 * functions with which the halves report it. Each half reports null before its first tiles: a report without a change keeps the
 * object, so that React does not render the viewer again.
 */
export function useIncompleteHalves() {
  const [incomplete, setIncomplete] = useState(completeHalves);
  const onIncomplete = useMemo(() => {
    const setHalf = (half: Half) => (reason: Incompleteness | null) =>
      setIncomplete((before) => (before[half] === reason ? before : { ...before, [half]: reason }));
    return { first: setHalf('first'), second: setHalf('second') };
  }, []);
  return { incomplete, onIncomplete };
}
