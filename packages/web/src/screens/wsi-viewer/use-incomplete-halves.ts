import { useMemo, useState } from 'react';
import type { Half } from '../../viewer/link-views.ts';
import type { Incompleteness } from '../../viewer/PictureNotes.tsx';

type IncompleteHalves = Readonly<Record<Half, Incompleteness | null>>;

const completeHalves: IncompleteHalves = { first: null, second: null };

/**
 * Returns `incomplete`, the reason why tiles are missing in each half of the viewer (null if there is none to report), and
 * `onIncomplete`, the functions with which the halves report this reason. A report of the same reason leaves `incomplete` the same
 * object, so React does not render the viewer again.
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
