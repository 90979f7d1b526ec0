import { useCallback, useLayoutEffect, useMemo, useRef, useState } from 'react';
import { useLocation, useNavigate, useNavigationType, useSearchParams } from 'react-router';
import type { Half } from '../../viewer/link-views.ts';
import type { ArrangementMemory } from '../../viewer/results/arrangement-memory.ts';
import type { SlideField } from '../../viewer/view-address.ts';
import { type ColourChoice, formatViewed, parseViewed, type ViewedImages } from './viewed-address.ts';

/** What the viewer shows according to the URL, the functions that change the URL, and the last step back or forward in the history. */
interface Viewed {
  readonly viewed: ViewedImages;
  /**
   * Key of the history entry with which the page was opened or to which the user last went back or forward. When it changes, the views
   * must follow the URL.
   */
  readonly historyStep: string;
  /** Opens an image in a half of the viewer instead of the one shown there, and adds a history entry; null closes the half. */
  readonly open: (half: Half, imageId: string | null) => void;
  /**
   * Writes the field (visible part) of a slide into the URL, unless the half shows another slide by now. Replaces the history entry, so
   * the back button opens the previous slide.
   */
  readonly setField: (half: Half, imageId: string, field: SlideField) => void;
  /** For each half, reads and writes the arrangement (order, visibility, style) of its result layers; replaces the history entry. */
  readonly arrangements: Readonly<Record<Half, ArrangementMemory>>;
  /** Whether the colour profile corrects the colours: the choice in the URL, or else the last one in this browser. */
  readonly colours: ColourChoice;
  /** Writes the choice into the URL, and stores it in this browser for other slides. */
  readonly setColours: (colours: ColourChoice) => void;
}

/** Key in the browser's local storage for the last choice of colours. */
const coloursKey = 'viewer_colours';

/** Keeps what the viewer shows in the URL, so that a user can share it as a link and use the back button of the browser. */
export function useViewed(): Viewed {
  const [parameters] = useSearchParams();
  const navigate = useNavigate();
  const viewed = useMemo(() => parseViewed(parameters), [parameters]);
  /** `viewed` with all changes since the last rendering: both halves may report their fields between two renderings. */
  const latestViewed = useRef(viewed);
  useLayoutEffect(() => {
    latestViewed.current = viewed;
  }, [viewed]);

  const { key } = useLocation();
  const isHistoryStep = useNavigationType() === 'POP'; // the user went back or forward, or opened the page
  const [historyStep, setHistoryStep] = useState(key);
  // Set during rendering, so that the views move in the same rendering as the URL changes.
  if (isHistoryStep && key !== historyStep) setHistoryStep(key);

  const changeUrl = useCallback(
    (next: ViewedImages, historyEntry: 'push' | 'replace') => {
      const [before, after] = [formatViewed(latestViewed.current).toString(), formatViewed(next).toString()];
      latestViewed.current = next;
      if (before !== after) void navigate(`?${after}`, { replace: historyEntry === 'replace' });
    },
    [navigate],
  );
  const open = useCallback(
    (half: Half, imageId: string | null) =>
      changeUrl(
        {
          ...latestViewed.current,
          [half]: imageId === null ? null : { imageId, field: null, results: null },
        },
        'push',
      ),
    [changeUrl],
  );
  const setField = useCallback(
    (half: Half, imageId: string, field: SlideField) => {
      const image = latestViewed.current[half];
      // The user may have opened another slide since the movement; React closes the previous one only with its next rendering.
      if (image?.imageId === imageId)
        changeUrl({ ...latestViewed.current, [half]: { ...image, field } }, 'replace');
    },
    [changeUrl],
  );
  const arrangements = useMemo(() => {
    const arrangementOf = (half: Half): ArrangementMemory => ({
      read: () => latestViewed.current[half]?.results ?? null,
      write: (imageId, arrangement) => {
        const image = latestViewed.current[half];
        // Another slide may have been opened in the meantime.
        if (image?.imageId === imageId)
          changeUrl({ ...latestViewed.current, [half]: { ...image, results: arrangement } }, 'replace');
      },
      historyStep,
    });
    return { first: arrangementOf('first'), second: arrangementOf('second') };
  }, [changeUrl, historyStep]);
  const setColours = useCallback(
    (colours: ColourChoice) => {
      localStorage.setItem(coloursKey, colours);
      changeUrl({ ...latestViewed.current, colours }, 'replace');
    },
    [changeUrl],
  );
  const storedChoice = localStorage.getItem(coloursKey) === 'scanned' ? 'scanned' : 'corrected';
  const choice = viewed.colours ?? storedChoice;
  return { viewed, historyStep, open, setField, arrangements, colours: choice, setColours };
}
