import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useNavigate, useNavigationType, useSearchParams } from 'react-router';
import type { Half } from '../../viewer/link-views.ts';
import type { ArrangementMemory } from '../../viewer/results/arrangement-memory.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import { type ColourChoice, formatViewed, parseViewed, type ViewedImages } from './viewed-address.ts';

interface Viewed {
  readonly viewed: ViewedImages;
  /** Key of the history entry to which the person went back or forward last; when it changes, the views must follow the URL. */
  readonly historyStep: string;
  /** Opens an image in a half of the viewer instead of the one shown there, and adds a history entry; null closes the half. */
  readonly open: (half: Half, imageId: string | null) => void;
  /** Writes the field of a moved view into the URL. It replaces the history entry, so that the back button goes from slide to slide. */
  readonly setField: (half: Half, field: SlideField) => void;
  /** For each half, functions that read and write the result layers in the URL; a change replaces the history entry. */
  readonly arrangements: Readonly<Record<Half, ArrangementMemory>>;
  /** The choice in the URL, or else the last choice in this browser, or else 'corrected'. */
  readonly colours: ColourChoice;
  /** Writes the choice into the URL, and stores it in this browser for other slides. */
  readonly setColours: (colours: ColourChoice) => void;
}

const coloursKey = 'viewer_colours';

/** Keeps in the URL what the viewer shows, so that a link can contain it and the back button of the browser works. */
export function useViewed(): Viewed {
  const [address] = useSearchParams();
  const navigate = useNavigate();
  const viewed = useMemo(() => parseViewed(address), [address]);
  /** The state with all changes since the last rendering: both halves may report their fields between two renderings. */
  const viewedNow = useRef(viewed);
  useLayoutEffect(() => {
    viewedNow.current = viewed;
  }, [viewed]);

  const { key } = useLocation();
  const isHistoryStep = useNavigationType() === 'POP'; // back or forward
  const [historyStep, setHistoryStep] = useState(key);
  // Set during rendering, so that the views move in the same rendering as the URL changes.
  if (isHistoryStep && key !== historyStep) setHistoryStep(key);

  const go = useCallback(
    (next: ViewedImages, historyEntry: 'push' | 'replace') => {
      const [before, after] = [`${formatViewed(viewedNow.current)}`, `${formatViewed(next)}`];
      viewedNow.current = next;
      if (before !== after) void navigate(`?${after}`, { replace: historyEntry === 'replace' });
    },
    [navigate],
  );
  const open = useCallback(
    (half: Half, imageId: string | null) =>
      go(
        { ...viewedNow.current, [half]: imageId === null ? null : { imageId, field: null, results: null } },
        'push',
      ),
    [go],
  );
  const setField = useCallback(
    (half: Half, field: SlideField) => {
      const image = viewedNow.current[half];
      if (image !== null) go({ ...viewedNow.current, [half]: { ...image, field } }, 'replace');
    },
    [go],
  );
  const arrangements = useMemo(() => {
    const arrangementOf = (half: Half): ArrangementMemory => ({
      read: () => viewedNow.current[half]?.results ?? null,
      write: (imageId, results) => {
        const image = viewedNow.current[half];
        // Another slide may have been opened in the meantime.
        if (image?.imageId === imageId)
          go({ ...viewedNow.current, [half]: { ...image, results } }, 'replace');
      },
      historyStep,
    });
    return { first: arrangementOf('first'), second: arrangementOf('second') };
  }, [go, historyStep]);
  const setColours = useCallback(
    (colours: ColourChoice) => {
      localStorage.setItem(coloursKey, colours);
      go({ ...viewedNow.current, colours }, 'replace');
    },
    [go],
  );
  const rememberedChoice = localStorage.getItem(coloursKey) === 'scanned' ? 'scanned' : 'corrected';
  const choice = viewed.colours ?? rememberedChoice;
  return { viewed, historyStep, open, setField, arrangements, colours: choice, setColours };
}
