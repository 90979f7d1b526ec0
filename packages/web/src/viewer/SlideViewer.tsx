/** The viewer of a slide. Longer than other files: opening, retrying and renewed sessions share the state of one opening. */
import { type ComponentType, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useWhenIdle } from '../browser/use-when-idle.ts';
import { type ColourAdjustment, isAsScanned } from './colours/adjustment.ts';
import type { ColourProfile } from './colours/colour-table.ts';
import { ShownColours } from './colours/ShownColours.tsx';
import { useColourTable } from './colours/use-colour-table.ts';
import { useColours } from './colours/use-colours.ts';
import type { DeepZoomDescriptor } from './descriptor.ts';
import { firstTiles } from './first-tiles.ts';
import { Instruments } from './Instruments.tsx';
import { createIdlePrefetch } from './idle-prefetch.ts';
import { type Incompleteness, PictureNotes } from './PictureNotes.tsx';
import { canRetry, type FetchPixels, PixelError, type PixelFailure } from './pixels.ts';
import type { DescriptorSupply } from './preload.ts';
import classes from './SlideViewer.module.css';
import { calibrationOf } from './scale.ts';
import type { Sharpness } from './sharpness.ts';
import type { TileAddress } from './slide-tiles.ts';
import { createSlideView, isSamePose, type Pose, type SlideView } from './slide-view.ts';
import { texts } from './texts.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';
import { fieldOnTissue, loadSmallPicture, type Size } from './tissue.ts';
import { useFullPage } from './use-full-page.ts';
import { useIncompleteness } from './use-incompleteness.ts';
import type { SlideField } from './view-address.ts';
import type { ViewedSlide } from './viewed-slide.ts';

/** Delay before an opening that failed temporarily is retried. */
const tryAgainMs = 10_000;
/** The address is updated when the view has not changed for this long. */
const settledMs = 250;
/** How long the opening waits for the thumbnail in which it looks for tissue. */
const maxTissueMs = 1500;

export interface ViewingState {
  /** What is loading; null when everything in view is loaded. */
  readonly loading: LoadingState | null;
  /** Error in place of the slide or over it. */
  readonly failure: PixelFailure | null;
  readonly retry: () => void;
}

interface SlideViewerProps {
  /** Null while no slide is chosen; the viewer is prepared meanwhile. */
  readonly slide: ViewedSlide | null;
  /** Address of the thumbnail that is shown until there are tiles; null when there is none. */
  readonly picture: string | null;
  readonly fetchPixels: FetchPixels;
  readonly descriptors: DescriptorSupply;
  /** The current image session. With a new one the viewer retries what failed with the old one. */
  readonly session: string | null;
  /** The field to show first; null: the whole slide. */
  readonly fieldAtFirst: () => SlideField | null;
  /** Whether a first field of blank glass is replaced by one on tissue. */
  readonly avoidsGlass?: boolean;
  /** Called after each movement with the resulting field. */
  readonly onField: (field: SlideField) => void;
  /** Called with the view when it shows the slide, and with null when the slide is closed. Must be a stable function. */
  readonly onView: (view: SlideView | null) => void;
  /** Called with the reason when the view is not sharp, and with null when it is or the slide is closed. Must be a stable function. */
  readonly onIncomplete: (incomplete: Incompleteness | null) => void;
  /** The colour adjustment for all slides; null: each slide opens as scanned. */
  readonly keptColours: ColourAdjustment | null;
  readonly onKeepColours: (colours: ColourAdjustment | null) => void;
  /** Whether colour profiles correct the colours of slides that have one. */
  readonly isCorrected: boolean;
  readonly onCorrect: (isCorrected: boolean) => void;
  /** Whether the keyboard shortcuts of the page apply to this slide. */
  readonly hasKeys: boolean;
  /** Content over the slide. */
  readonly Overlay: ComponentType<ViewingState>;
}

/** A zoomable slide. OpenSeadragon is created once, when the browser is idle, and reused for every slide. */
export function SlideViewer({ slide, ...props }: SlideViewerProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<SlideView>(null);
  const [isFullPage, toggleFullPage] = useFullPage();

  const viewHere = useCallback(() => {
    if (place.current === null) throw new Error('The viewer is not in the page.');
    view.current ??= createSlideView(place.current, texts.slide);
    return view.current;
  }, []);

  useEffect(() => {
    // Only while no slide is chosen: opening a slide must not wait for it.
    const ready = window.requestIdleCallback?.(viewHere);
    return () => {
      if (ready !== undefined) cancelIdleCallback(ready);
      view.current?.destroy();
      view.current = null;
    };
  }, [viewHere]);

  return (
    <div
      className={classes.stage}
      data-full-page={isFullPage || undefined}
      data-empty={slide === null || undefined}
    >
      <div className={classes.place} ref={place} />
      {slide !== null && (
        <OpenSlide
          key={slide.descriptorAddress}
          slide={slide}
          viewHere={viewHere}
          isFullPage={isFullPage}
          onToggleFullPage={toggleFullPage}
          {...props}
        />
      )}
    </div>
  );
}

interface OpenSlideProps extends SlideViewerProps {
  readonly slide: ViewedSlide;
  /** Returns the view, which is created on the first call. */
  readonly viewHere: () => SlideView;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
}

/** One slide from opening to closing. */
// oxlint-disable-next-line lamina/max-own-lines -- hooks of one slide, which share its state
function OpenSlide(props: OpenSlideProps) {
  const {
    slide,
    picture,
    fetchPixels,
    descriptors,
    session,
    Overlay,
    viewHere,
    fieldAtFirst,
    avoidsGlass = false,
    onField,
    onView,
    onIncomplete,
  } = props;
  const [loading, setLoading] = useState<LoadingState | null>({ phase: 'opening' });
  const [failure, setFailure] = useState<PixelFailure | null>(null);
  const [pose, setPose] = useState<Pose | null>(null);
  /** The view while it shows this slide; null before. */
  const [view, setView] = useState<SlideView | null>(null);
  /** The controls are rendered when the browser is idle: the first tiles come first. */
  const viewOfInstruments = useWhenIdle(view);
  const [attempt, setAttempt] = useState(0);
  /** The thumbnail has the position of the whole slide; it does not change with a renewed session. */
  const [standIn, setStandIn] = useState(() => (fieldAtFirst() === null ? picture : null));
  const [sharpness, setSharpness] = useState<Sharpness>('loading');
  const [lastFailure, setLastFailure] = useState<PixelFailure | null>(null);
  const incomplete = useIncompleteness({
    sharpness,
    lastFailure,
    isProgressShown: loading !== null,
    isErrorShown: failure !== null,
  });
  useEffect(() => {
    onIncomplete(incomplete);
    return () => onIncomplete(null);
  }, [incomplete, onIncomplete]);
  const { isCorrected, onCorrect } = props;
  const [profile, setProfile] = useState<ColourProfile | null>(null);
  const colours = useColours(props.keptColours, props.onKeepColours, {
    profile,
    isCorrected,
    correct: onCorrect,
  });
  const table = useColourTable(
    view?.correctsColours && isCorrected ? profile : null,
    slide.colourTableAddress,
    fetchPixels,
  );
  const calibration = useMemo(() => calibrationOf(slide.scale), [slide.scale]);

  /** The field before the slide was opened again; null: the first opening. */
  const fieldBefore = useRef<SlideField | null>(null);
  const openingField = useEffectEvent(
    async (descriptor: DeepZoomDescriptor, size: Size, signal: AbortSignal): Promise<SlideField | null> => {
      const field = fieldBefore.current ?? fieldAtFirst();
      if (field === null || fieldBefore.current !== null || !avoidsGlass || picture === null) return field;
      const limit = AbortSignal.any([signal, AbortSignal.timeout(maxTissueMs)]);
      return loadSmallPicture(picture, limit).then(
        (small) => fieldOnTissue(small, descriptor, size, field),
        () => field, // without the thumbnail, the field that corresponds
      );
    },
  );
  /** Where the browser can neither use a graphics card nor read a canvas, corrected colours are those of other tiles. */
  const tileAddressIn = useEffectEvent((view: SlideView, { profile: known }: DeepZoomDescriptor) => {
    const isServerAsked = isCorrected && !view.correctsColours && known?.tableSize != null;
    return (tile: TileAddress) => slide.tileAddressOf(tile, isServerAsked ? 'srgb' : undefined);
  });
  const tellField = useEffectEvent((field: SlideField) => onField(field));

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt opens the slide again
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    let shown: SlideView | null = null;
    let settling: ReturnType<typeof setTimeout> | undefined;
    let lastField = '';
    /** The progress to show at the next frame; undefined when there is none. */
    let news: LoadingState | null | undefined;
    let frame = 0;

    async function open() {
      const descriptor = await descriptors.load(slide.descriptorAddress, {
        signal,
        onRenewing: () => setLoading({ phase: 'renewing-session' }),
      });

      setFailure(null);
      setProfile(descriptor.profile);
      let isComplete = false;
      const tiles = createTileLoading({
        fetchPixels,
        signal,
        // While the person moves the slide, progress is not shown, but failures are.
        onChange: (state) => tell(isComplete && state.phase === 'tiles' ? null : state),
      });
      const load = async (address: string) => {
        try {
          const tile = await tiles.load(address);
          setFailure(null); // a tile has arrived
          return tile;
        } catch (error) {
          if (!signal.aborted) {
            setLastFailure(failureOf(error));
            onTileFailed(failureOf(error), tiles.hasLoaded());
          }
          throw error;
        }
      };
      const onComplete = () => {
        isComplete = true;
        tell(null);
        setStandIn(null);
      };
      shown = viewHere();
      const field = await openingField(descriptor, shown.size(), signal);
      signal.throwIfAborted();
      const addressOf = tileAddressIn(shown, descriptor);
      const first = firstTiles(descriptor, shown.size(), field);
      const arriving = tiles.preload(first.map(addressOf));
      // They are decoded as they arrive, while OpenSeadragon still prepares its requests for them.
      for (const [index, tile] of first.entries()) {
        const blob = arriving[index];
        if (blob) shown.prefetch(tile, addressOf(tile), () => blob).catch(() => undefined); // its request fails, too
      }
      const prefetch = createIdlePrefetch({ view: shown, descriptor, addressOf, fetchPixels, signal });
      shown.show(descriptor, { addressOf, load, signal }, field, {
        onComplete,
        onSharpness: (now) => {
          setSharpness(now);
          if (now === 'sharp') prefetch.onSharp();
          else prefetch.onBusy();
        },
        onField: onFieldChanged,
        onMove: (moved) => {
          prefetch.onMove();
          setPose((before) => (before !== null && isSamePose(before, moved) ? before : moved));
        },
      });
      setView(shown);
    }

    /** Tiles arrive in large numbers: their progress is rendered once per frame. */
    function tell(state: LoadingState | null) {
      if (news === undefined) {
        frame = requestAnimationFrame(() => {
          setLoading(news ?? null);
          news = undefined;
        });
      }
      news = state;
    }

    function onFieldChanged(field: SlideField) {
      const changed = JSON.stringify(field);
      if (changed === lastField) return;
      if (lastField !== '') setStandIn(null); // the thumbnail does not move with the view
      lastField = changed;
      clearTimeout(settling);
      settling = setTimeout(() => tellField(field), settledMs);
    }

    /** A single missing tile is visible as blur; an error that affects all tiles needs a message. */
    function onTileFailed(tileFailure: PixelFailure, hasOthers: boolean) {
      if (!hasOthers || isAboutSession(tileFailure)) setFailure(tileFailure);
    }

    open().catch((error: unknown) => {
      if (signal.aborted) return;
      setLoading(null);
      setFailure(failureOf(error));
    });
    return () => {
      clearTimeout(settling);
      cancelAnimationFrame(frame);
      shown?.clear();
      end.abort();
    };
  }, [slide, fetchPixels, descriptors, viewHere, attempt]);

  const openAgain = useEffectEvent(() => {
    if (view === null || view.correctsColours || profile?.tableSize == null) return;
    fieldBefore.current = view.destination();
    setAttempt((before) => before + 1);
  });
  const knownCorrection = useRef(isCorrected);
  useEffect(() => {
    if (isCorrected === knownCorrection.current) return;
    knownCorrection.current = isCorrected;
    openAgain();
  }, [isCorrected]);

  const isOpened = pose !== null;
  useEffect(() => {
    if (view === null || !isOpened) return;
    onView(view);
    return () => onView(null);
  }, [view, isOpened, onView]);

  const retry = () => {
    setFailure(null);
    if (view !== null) return view.retryFailedTiles();
    setLoading({ phase: 'opening' });
    setAttempt(attempt + 1);
  };

  // A restarting server or database is back soon. The message stays until then.
  useEffect(() => {
    if (view !== null || failure === null || !canRetry(failure)) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), tryAgainMs);
    return () => clearTimeout(timer);
  }, [failure, view]);

  // When the network is back or the computer wakes up, failed requests are repeated at once.
  useEffect(() => {
    if (view === null) return;
    const retryWhenVisible = () => {
      if (document.visibilityState !== 'visible') return;
      setFailure((before) => (before?.kind === 'other' ? null : before));
      view.retryFailedTiles();
    };
    window.addEventListener('online', retryWhenVisible);
    document.addEventListener('visibilitychange', retryWhenVisible);
    return () => {
      window.removeEventListener('online', retryWhenVisible);
      document.removeEventListener('visibilitychange', retryWhenVisible);
    };
  }, [view]);

  const [knownSession, setKnownSession] = useState(session);
  if (session !== null && session !== knownSession) {
    setKnownSession(session);
    if (failure !== null && isAboutSession(failure)) {
      setFailure(null);
      if (view === null) {
        setLoading({ phase: 'opening' });
        setAttempt(attempt + 1);
      }
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each new session
  useEffect(() => view?.retryFailedTiles(), [view, knownSession]);

  return (
    <>
      {standIn !== null && failure === null && (
        <img
          className={classes.standIn}
          src={standIn}
          alt=""
          fetchPriority="high"
          onError={() => setStandIn(null)}
        />
      )}
      {viewOfInstruments !== null && pose !== null && (
        <Instruments
          view={viewOfInstruments}
          pose={pose}
          name={slide.name}
          annotated={slide.annotated}
          calibration={calibration}
          shownPlane={slide.shownPlane ?? null}
          isFullPage={props.isFullPage}
          onToggleFullPage={props.onToggleFullPage}
          colours={colours}
          incomplete={incomplete}
          hasKeys={props.hasKeys}
        />
      )}
      {view !== null && (
        <ShownColours view={view} adjustment={colours.adjustment} table={isCorrected ? table : null} />
      )}
      <PictureNotes
        incomplete={incomplete}
        onRetry={() => view?.retryFailedTiles('all')}
        areColoursChanged={!isAsScanned(colours.adjustment)}
        onResetColours={colours.reset}
      />
      <Overlay loading={loading} failure={failure} retry={retry} />
    </>
  );
}

function failureOf(error: unknown): PixelFailure {
  return error instanceof PixelError ? error.failure : { kind: 'other' };
}

function isAboutSession(failure: PixelFailure): boolean {
  return failure.kind === 'session-lost' || (failure.kind === 'status' && failure.status === 401);
}
