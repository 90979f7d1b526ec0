import { useMemo, useState } from 'react';
import { asScanned, type ColourAdjustment } from './adjustment.ts';
import type { ColourProfile } from './colour-table.ts';

export interface SlideColours {
  /** The colour profile in the slide's file; null when there is none, and before the slide is open. */
  readonly profile: ColourProfile | null;
  /** Whether the profile corrects the scanner's colours, where there is one. */
  readonly isCorrected: boolean;
  readonly correct: (isCorrected: boolean) => void;
  readonly adjustment: ColourAdjustment;
  readonly change: (adjustment: ColourAdjustment) => void;
  /** Whether the adjustment applies to all slides. */
  readonly areKept: boolean;
  readonly keep: (areKept: boolean) => void;
  /** Removes the adjustment of this slide and the one for all slides. The correction by the profile stays. */
  readonly reset: () => void;
}

/**
 * Returns the colours of an open slide. It opens as scanned unless there is an adjustment for all slides. The object changes
 * only with the colours.
 *
 * @param shared the adjustment for all slides; null when there is none
 */
export function useColours(
  shared: ColourAdjustment | null,
  onKeep: (adjustment: ColourAdjustment | null) => void,
  correction: Pick<SlideColours, 'profile' | 'isCorrected' | 'correct'>,
): SlideColours {
  const { profile, isCorrected, correct } = correction;
  const [own, setOwn] = useState(asScanned);
  return useMemo(() => {
    const adjustment = shared ?? own;
    return {
      profile,
      isCorrected,
      correct,
      adjustment,
      change: shared === null ? setOwn : onKeep,
      areKept: shared !== null,
      keep: (areKept) => {
        if (!areKept) setOwn(adjustment);
        onKeep(areKept ? adjustment : null);
      },
      reset: () => {
        setOwn(asScanned);
        onKeep(null);
      },
    };
  }, [shared, own, onKeep, profile, isCorrected, correct]);
}
