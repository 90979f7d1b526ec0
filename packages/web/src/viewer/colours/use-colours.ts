import { useMemo, useState } from 'react';
import { asScanned, type ColourAdjustment } from './adjustment.ts';
import type { ColourProfile } from './colour-table.ts';

/** The colour settings of an open slide, and the functions that change them. */
export interface SlideColours {
  /** The colour profile in the slide's file; null when there is none, and before the slide is open. */
  readonly profile: ColourProfile | null;
  /** Whether the viewer corrects the scanner's colours if the slide has a profile. */
  readonly isCorrected: boolean;
  /**
   * Why the colours are as scanned although the correction is on: the colour table is being loaded, or could not be loaded. Null when
   * the colours are corrected, when the correction is off, and for a slide without a usable profile.
   */
  readonly missingTable: 'loading' | 'failed' | null;
  /** Switches the correction by the profile on or off. */
  readonly setCorrected: (isCorrected: boolean) => void;
  readonly adjustment: ColourAdjustment;
  /** Replaces the adjustment of this slide, or of all slides while the user keeps the adjustment for all slides. */
  readonly change: (adjustment: ColourAdjustment) => void;
  /** Whether the adjustment is kept for all slides. */
  readonly areKept: boolean;
  /** Keeps the current adjustment for all slides (true) or for this slide only (false). */
  readonly keep: (areKept: boolean) => void;
  /** Removes the adjustment of this slide and the adjustment for all slides. The correction by the profile stays. */
  readonly reset: () => void;
}

/**
 * Returns the colour settings of an open slide. A slide opens as scanned unless the user keeps an adjustment for all slides.
 * The returned object stays the same until the colours change.
 *
 * @param sharedAdjustment the adjustment for all slides; null when there is none
 * @param onKeep stores the adjustment for all slides; null removes it
 * @param correction the slide's ICC profile, and whether the viewer corrects the colours by this profile and can do so
 */
export function useColours(
  sharedAdjustment: ColourAdjustment | null,
  onKeep: (adjustment: ColourAdjustment | null) => void,
  correction: Pick<SlideColours, 'profile' | 'isCorrected' | 'missingTable' | 'setCorrected'>,
): SlideColours {
  const { profile, isCorrected, missingTable, setCorrected } = correction;
  const [slideAdjustment, setSlideAdjustment] = useState(asScanned); // used while there is no shared adjustment
  return useMemo(() => {
    const adjustment = sharedAdjustment ?? slideAdjustment;
    return {
      profile,
      isCorrected,
      missingTable,
      setCorrected,
      adjustment,
      change: sharedAdjustment === null ? setSlideAdjustment : onKeep,
      areKept: sharedAdjustment !== null,
      keep: (areKept) => {
        if (!areKept) setSlideAdjustment(adjustment);
        onKeep(areKept ? adjustment : null);
      },
      reset: () => {
        setSlideAdjustment(asScanned);
        onKeep(null);
      },
    };
  }, [sharedAdjustment, slideAdjustment, onKeep, profile, isCorrected, missingTable, setCorrected]);
}
