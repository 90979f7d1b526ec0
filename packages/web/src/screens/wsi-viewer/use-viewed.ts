import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useNavigate, useNavigationType, useSearchParams } from 'react-router';
import type { Half } from '../../viewer/link-views.ts';
import type { ArrangementMemory } from '../../viewer/results/arrangement-memory.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import { type ColourChoice, formatViewed, parseViewed, type ViewedImages } from './viewed-address.ts';

interface Viewed {
  readonly viewed: ViewedImages;
  /** Another one after the browser's back and forward: then the address has changed without the view. */
  readonly occasion: string;
  /** Opens an image in a half, in place of what was there; null closes it. The back button leads back. */
  readonly open: (half: Half, imageId: string | null) => void;
  /** The view has moved: the new field takes the place of the one before, and the back button goes from slide to slide. */
  readonly setField: (half: Half, field: SlideField) => void;
  /** For each half, the result layers in the address; a change takes the place of the one before. */
  readonly arrangements: Readonly<Record<Half, ArrangementMemory>>;
  /** What the address says, else what the person chose last; corrected at first. */
  readonly colours: ColourChoice;
  /** Changes the address and is remembered for the next slides. */
  readonly setColours: (colours: ColourChoice) => void;
}

const coloursKey = 'viewer_colours';

/** What is viewed, which the address says: so it can be linked to, and the browser's back button works. */
export function useViewed(): Viewed {
  const [address] = useSearchParams();
  const navigate = useNavigate();
  const viewed = useMemo(() => parseViewed(address), [address]);
  /** Ahead of the page: both halves may tell their fields before it is drawn again. */
  const viewedNow = useRef(viewed);
  useLayoutEffect(() => {
    viewedNow.current = viewed;
  }, [viewed]);

  const { key } = useLocation();
  const isPopped = useNavigationType() === 'POP';
  const [occasion, setOccasion] = useState(key);
  if (isPopped && key !== occasion) setOccasion(key);

  const go = useCallback(
    (next: ViewedImages, isSameEntry: boolean) => {
      const [before, after] = [`${formatViewed(viewedNow.current)}`, `${formatViewed(next)}`];
      viewedNow.current = next;
      if (before !== after) void navigate(`?${after}`, { replace: isSameEntry });
    },
    [navigate],
  );
  const open = useCallback(
    (half: Half, imageId: string | null) =>
      go(
        { ...viewedNow.current, [half]: imageId === null ? null : { imageId, field: null, results: null } },
        false,
      ),
    [go],
  );
  const setField = useCallback(
    (half: Half, field: SlideField) => {
      const image = viewedNow.current[half];
      if (image !== null) go({ ...viewedNow.current, [half]: { ...image, field } }, true);
    },
    [go],
  );
  const arrangements = useMemo(() => {
    const of = (half: Half): ArrangementMemory => ({
      read: () => viewedNow.current[half]?.results ?? null,
      write: (imageId, results) => {
        const image = viewedNow.current[half];
        // Another slide may have been opened meanwhile.
        if (image?.imageId === imageId) go({ ...viewedNow.current, [half]: { ...image, results } }, true);
      },
      occasion,
    });
    return { first: of('first'), second: of('second') };
  }, [go, occasion]);
  const setColours = useCallback(
    (colours: ColourChoice) => {
      localStorage.setItem(coloursKey, colours);
      go({ ...viewedNow.current, colours }, true);
    },
    [go],
  );
  const remembered = localStorage.getItem(coloursKey) === 'scanned' ? 'scanned' : 'corrected';
  const choice = viewed.colours ?? remembered;
  return { viewed, occasion, open, setField, arrangements, colours: choice, setColours };
}
