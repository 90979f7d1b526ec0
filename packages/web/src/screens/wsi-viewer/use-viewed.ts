import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useNavigate, useNavigationType, useSearchParams } from 'react-router';
import type { Half } from '../../viewer/link-views.ts';
import type { ArrangementMemory } from '../../viewer/results/arrangement-memory.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import { type ColourChoice, formatViewed, parseViewed, type ViewedImages } from './viewed-address.ts';

interface Viewed {
  readonly viewed: ViewedImages;
  /** Changes with each use of the browser's back and forward buttons: then the view must follow the address. */
  readonly occasion: string;
  /** Opens an image in a half and replaces the one shown there; null closes it. It adds a history entry. */
  readonly open: (half: Half, imageId: string | null) => void;
  /** Writes the field of a moved view into the address. It replaces the history entry, so that the back button goes from slide to slide. */
  readonly setField: (half: Half, field: SlideField) => void;
  /** For each half, access to the result layers in the address; a change replaces the history entry. */
  readonly arrangements: Readonly<Record<Half, ArrangementMemory>>;
  /** The choice in the address; without one the person's last choice, and 'corrected' by default. */
  readonly colours: ColourChoice;
  /** Writes the choice into the address, and stores it in this browser for other slides. */
  readonly setColours: (colours: ColourChoice) => void;
}

const coloursKey = 'viewer_colours';

/** Keeps what the viewer shows in the address, so that it can be linked to and the browser's back button works. */
export function useViewed(): Viewed {
  const [address] = useSearchParams();
  const navigate = useNavigate();
  const viewed = useMemo(() => parseViewed(address), [address]);
  /** The newest state, before the component renders again: both halves may report their fields between two renders. */
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
        // Another slide may have been opened in the meantime.
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
