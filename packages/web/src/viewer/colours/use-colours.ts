import { useMemo, useState } from 'react';
import { asScanned, type ColourAdjustment } from './adjustment.ts';
import type { ColourProfile } from './colour-table.ts';

export interface SlideColours {
  /** The colour profile in the slide's file; null when there is none, and before the slide is open. */
  readonly profile: ColourProfile | null;
  /** Whether the scanner's colours are corrected by the profile, if the slide has one. */
  readonly isCorrected: boolean;
  readonly correct: (isCorrected: boolean) => void;
  readonly adjustment: ColourAdjustment;
  readonly change: (adjustment: ColourAdjustment) => void;
  /** Whether the adjustment is kept for all slides. */
  readonly areKept: boolean;
  /** Keeps the current adjustment for all slides, or for this slide only. */
  readonly keep: (areKept: boolean) => void;
  /** Removes the adjustment of this slide and the one for all slides. The correction by the profile stays. */
  readonly reset: () => void;
}

/**
 * Returns the colours of an open slide. A slide opens as scanned unless there is an adjustment for all slides. The returned object
 * stays the same until the colours change.
 *
 * @param shared the adjustment for all slides; null when there is none
 * @param onKeep stores the adjustment for all slides; null removes it
 */
export function useColours(
  shared: ColourAdjustment | null,
  onKeep: (adjustment: ColourAdjustment | null) => void,
  correction: Pick<SlideColours, 'profile' | 'isCorrected' | 'correct'>,
): SlideColours {
  const { profile, isCorrected, correct } = correction;
  const [ownAdjustment, setOwnAdjustment] = useState(asScanned);
  return useMemo(() => {
    const adjustment = shared ?? ownAdjustment;
    return {
      profile,
      isCorrected,
      correct,
      adjustment,
      change: shared === null ? setOwnAdjustment : onKeep,
      areKept: shared !== null,
      keep: (areKept) => {
        if (!areKept) setOwnAdjustment(adjustment);
        onKeep(areKept ? adjustment : null);
      },
      reset: () => {
        setOwnAdjustment(asScanned);
        onKeep(null);
      },
    };
  }, [shared, ownAdjustment, onKeep, profile, isCorrected, correct]);
}
