import { useMemo, useState } from 'react';
import type { Half } from '../../viewer/link-views.ts';
import type { Incompleteness } from '../../viewer/PictureNotes.tsx';

type IncompleteHalves = Readonly<Record<Half, Incompleteness | null>>;

const completeHalves: IncompleteHalves = { first: null, second: null };

/**
 * Returns `incomplete`, the reason why the view in each half of the viewer is not sharp (null while it is sharp), and `onIncomplete`,
 * the functions with which the halves report this reason. A report without a change, such as the null that each half reports before its
 * first tiles, leaves `incomplete` the same object, so React does not render the viewer again.
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
