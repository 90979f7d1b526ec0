/**
 * The viewer of a slide: opens it, shows progress and errors, retries, and renders the controls. The zoomable view itself is
 * `slide-view.ts`. Longer than other files, because opening, retrying and renewed sessions share the state of one slide.
 */
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
import type { TileCoordinates } from './slide-tiles.ts';
import { createSlideView, isSamePose, type Pose, type SlideView } from './slide-view.ts';
import { texts } from './texts.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';
import { fieldOnTissue, loadSmallPicture, type Size } from './tissue.ts';
import { useFullPage } from './use-full-page.ts';
import { useIncompleteness } from './use-incompleteness.ts';
import type { SlideField } from './view-url.ts';
import type { ViewedSlide } from './viewed-slide.ts';

/** Delay before an opening that failed temporarily is retried. */
const openRetryDelayMs = 10_000;
/** `onField` is called when the view has not changed for this long. */
const fieldDelayMs = 250;
/** Maximum time that the opening waits for the thumbnail in which it searches for tissue. */
const maxTissueSearchMs = 1500;

export interface ViewingState {
  /** Progress of opening or loading; null when all visible tiles are loaded. */
  readonly loading: LoadingState | null;
  /** Error to show instead of the slide or over it; null without one. */
  readonly failure: PixelFailure | null;
  readonly retry: () => void;
}

interface SlideViewerProps {
  /** The slide to show; null while none is chosen, when the browser prepares the viewer. */
  readonly slide: ViewedSlide | null;
  /** URL of the thumbnail that is shown until tiles are loaded; null when there is none. */
  readonly picture: string | null;
  readonly fetchPixels: FetchPixels;
  readonly descriptors: DescriptorSupply;
  /** The current image session (the credential of pixels). With a new session, the viewer retries the requests that failed with the old one. */
  readonly session: string | null;
  /** Returns the field to show first; null: the whole slide. */
  readonly initialField: () => SlideField | null;
  /** Whether a first field without tissue is replaced by a field on tissue. */
  readonly avoidsGlass?: boolean;
  /** Called after each movement with the new field, as soon as the view has been still for 250 ms. */
  readonly onField: (field: SlideField) => void;
  /** Called with the view when it shows the slide, and with null when the slide is closed. Must be a stable function. */
  readonly onView: (view: SlideView | null) => void;
  /** Called with the reason when the view is not sharp, and with null when it is or the slide is closed. Must be a stable function. */
  readonly onIncomplete: (incomplete: Incompleteness | null) => void;
  /** The colour adjustment for all slides; null: each slide opens as scanned. */
  readonly keptColours: ColourAdjustment | null;
  /** Called with the adjustment that the person keeps for all slides; null when the person stops keeping it. */
  readonly onKeepColours: (colours: ColourAdjustment | null) => void;
  /** Whether colour profiles correct the colours of slides that have one. */
  readonly isCorrected: boolean;
  /** Called when the person switches this correction on or off. */
  readonly onCorrect: (isCorrected: boolean) => void;
  /** Whether the keyboard shortcuts of the page apply to this slide. */
  readonly hasKeys: boolean;
  /** Content over the slide. */
  readonly Overlay: ComponentType<ViewingState>;
}

/** A zoomable slide. OpenSeadragon is created once, when the browser is idle, and reused for every slide. */
export function SlideViewer({ slide, ...props }: SlideViewerProps) {
  const viewerElement = useRef<HTMLDivElement>(null);
  const view = useRef<SlideView>(null);
  const [isFullPage, toggleFullPage] = useFullPage();

  const getOrCreateView = useCallback(() => {
    if (viewerElement.current === null) throw new Error('The viewer is not in the page.');
    view.current ??= createSlideView(viewerElement.current, texts.slide);
    return view.current;
  }, []);

  useEffect(() => {
    // Prepares the viewer while no slide is chosen. A slide that is opened earlier creates the viewer itself.
    const idleCallback = window.requestIdleCallback?.(getOrCreateView);
    return () => {
      if (idleCallback !== undefined) cancelIdleCallback(idleCallback);
      view.current?.destroy();
      view.current = null;
    };
  }, [getOrCreateView]);

  return (
    // The style sheet reads the `data-` attributes.
    <div
      className={classes.stage}
      data-full-page={isFullPage || undefined}
      data-empty={slide === null || undefined}
    >
      <div className={classes.place} ref={viewerElement} />
      {slide !== null && (
        <OpenSlide
          key={slide.descriptorUrl}
          slide={slide}
          getOrCreateView={getOrCreateView}
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
  readonly getOrCreateView: () => SlideView;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
}

/** Opens a slide, shows it, and closes it when the component is removed. */
// oxlint-disable-next-line lamina/max-own-lines -- the hooks share the state of one slide
function OpenSlide(props: OpenSlideProps) {
  const {
    slide,
    picture,
    fetchPixels,
    descriptors,
    session,
    Overlay,
    getOrCreateView,
    initialField,
    avoidsGlass = false,
    onField,
    onView,
    onIncomplete,
  } = props;
  const [loading, setLoading] = useState<LoadingState | null>({ phase: 'opening' });
  /** The error that the person sees; null without one. A single missing tile does not set it. */
  const [failure, setFailure] = useState<PixelFailure | null>(null);
  const [pose, setPose] = useState<Pose | null>(null);
  /** The view; null until it shows this slide. */
  const [view, setView] = useState<SlideView | null>(null);
  /** The view for the controls, which are rendered when the browser is idle, because the first tiles are more important. */
  const viewOfInstruments = useWhenIdle(view);
  /** Number of the attempt to open the slide; a new number opens the slide again. */
  const [attempt, setAttempt] = useState(0);
  /**
   * URL of the thumbnail that is shown until tiles are loaded; null: no thumbnail. It fits only the field of the whole slide. State,
   * because its URL must not change with a renewed session.
   */
  const [placeholderUrl, setPlaceholderUrl] = useState(() => (initialField() === null ? picture : null));
  const [sharpness, setSharpness] = useState<Sharpness>('loading');
  /** The cause of the last failed tile; null when none has failed. */
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
    setCorrected: onCorrect,
  });
  const table = useColourTable(
    view?.correctsColours && isCorrected ? profile : null,
    slide.colourTableUrl,
    fetchPixels,
  );
  const calibration = useMemo(() => calibrationOf(slide.scale), [slide.scale]);

  /** The field at the time when the slide was opened again; null before that. */
  const fieldBeforeReopening = useRef<SlideField | null>(null);
  /** Returns the field with which the slide opens; null: the whole slide. */
  const fieldForOpening = useEffectEvent(
    async (descriptor: DeepZoomDescriptor, size: Size, signal: AbortSignal): Promise<SlideField | null> => {
      if (fieldBeforeReopening.current !== null) return fieldBeforeReopening.current;
      const field = initialField();
      if (field === null || !avoidsGlass || picture === null) return field;
      const searchSignal = AbortSignal.any([signal, AbortSignal.timeout(maxTissueSearchMs)]);
      return loadSmallPicture(picture, searchSignal).then(
        (thumbnail) => fieldOnTissue(thumbnail, descriptor, size, field),
        () => field, // without the thumbnail, the field is not moved to tissue
      );
    },
  );
  /** Returns the function that builds the URLs of tiles. In browsers that cannot correct colours, the URLs request corrected tiles. */
  const createTileUrls = useEffectEvent((view: SlideView, { profile: slideProfile }: DeepZoomDescriptor) => {
    // `tableSize` is null for a profile that the server ignores.
    const isServerCorrecting = isCorrected && !view.correctsColours && slideProfile?.tableSize != null;
    return (tile: TileCoordinates) => slide.tileUrlOf(tile, isServerCorrecting ? 'srgb' : undefined);
  });
  const publishField = useEffectEvent((field: SlideField) => onField(field));

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt opens the slide again
  useEffect(() => {
    const abortController = new AbortController();
    const { signal } = abortController;
    let openedView: SlideView | null = null;
    let fieldTimer: ReturnType<typeof setTimeout> | undefined;
    /** The last field as JSON; empty before the first one. */
    let lastField = '';
    /** The progress to render in the next frame; undefined while no frame is scheduled. */
    let pendingProgress: LoadingState | null | undefined;
    let frame = 0;

    async function open() {
      const descriptor = await descriptors.load(slide.descriptorUrl, {
        signal,
        onRenewing: () => setLoading({ phase: 'renewing-session' }),
      });

      setFailure(null);
      setProfile(descriptor.profile);
      let isComplete = false;
      const tiles = createTileLoading({
        fetchPixels,
        signal,
        // After the first complete view, the progress of tiles is no longer shown; other states (a session being renewed) still are.
        onChange: (state) => scheduleProgress(isComplete && state.phase === 'tiles' ? null : state),
      });
      const load = async (url: string) => {
        try {
          const tile = await tiles.load(url);
          setFailure(null); // the server delivers tiles again
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
        scheduleProgress(null);
        setPlaceholderUrl(null);
      };
      openedView = getOrCreateView();
      const field = await fieldForOpening(descriptor, openedView.size(), signal);
      signal.throwIfAborted();
      const urlOf = createTileUrls(openedView, descriptor);
      const firstVisibleTiles = firstTiles(descriptor, openedView.size(), field);
      const preloadedBlobs = tiles.preload(firstVisibleTiles.map(urlOf));
      // The first tiles are decoded as soon as they are loaded, while OpenSeadragon still prepares its requests for them.
      for (const [index, tile] of firstVisibleTiles.entries()) {
        const blob = preloadedBlobs[index];
        // A failure is ignored here, because the request of OpenSeadragon for the same tile fails as well and is handled.
        if (blob) openedView.prefetch(tile, urlOf(tile), () => blob).catch(() => undefined);
      }
      const prefetch = createIdlePrefetch({ view: openedView, descriptor, urlOf, fetchPixels, signal });
      openedView.show(descriptor, { urlOf, load, signal }, field, {
        onComplete,
        onSharpness: (newSharpness) => {
          setSharpness(newSharpness);
          if (newSharpness === 'sharp') prefetch.onSharp();
          else prefetch.onTilesMissing();
        },
        onField: onFieldChanged,
        onMove: (newPose) => {
          prefetch.onMove();
          setPose((before) => (before !== null && isSamePose(before, newPose) ? before : newPose));
        },
      });
      setView(openedView);
    }

    /** Renders the progress at most once per frame, because many tiles are loaded per frame. */
    function scheduleProgress(state: LoadingState | null) {
      if (pendingProgress === undefined) {
        frame = requestAnimationFrame(() => {
          setLoading(pendingProgress ?? null);
          pendingProgress = undefined;
        });
      }
      pendingProgress = state;
    }

    function onFieldChanged(field: SlideField) {
      const newField = JSON.stringify(field);
      if (newField === lastField) return;
      if (lastField !== '') setPlaceholderUrl(null); // the thumbnail does not move with the view
      lastField = newField;
      clearTimeout(fieldTimer);
      fieldTimer = setTimeout(() => publishField(field), fieldDelayMs);
    }

    /** Shows a message for errors that affect all tiles. A single missing tile is only visible as blur. */
    function onTileFailed(tileFailure: PixelFailure, hasLoadedTiles: boolean) {
      if (!hasLoadedTiles || isAboutSession(tileFailure)) setFailure(tileFailure);
    }

    open().catch((error: unknown) => {
      if (signal.aborted) return;
      setLoading(null);
      setFailure(failureOf(error));
    });
    return () => {
      clearTimeout(fieldTimer);
      cancelAnimationFrame(frame);
      openedView?.clear();
      abortController.abort();
    };
  }, [slide, fetchPixels, descriptors, getOrCreateView, attempt]);

  /** Opens the slide again with tiles in the other colours, if the server and not the view corrects colours. */
  const reopenForColours = useEffectEvent(() => {
    if (view === null || view.correctsColours || profile?.tableSize == null) return;
    fieldBeforeReopening.current = view.destination();
    setAttempt((before) => before + 1);
  });
  const previousCorrection = useRef(isCorrected);
  useEffect(() => {
    if (isCorrected === previousCorrection.current) return;
    previousCorrection.current = isCorrected;
    reopenForColours();
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

  // Opening is retried after failures that may be temporary, such as a restarting server. The message stays until the slide is open.
  useEffect(() => {
    if (view !== null || failure === null || !canRetry(failure)) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), openRetryDelayMs);
    return () => clearTimeout(timer);
  }, [failure, view]);

  // Failed tiles are requested again as soon as the network is available again or the page becomes visible.
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

  const [latestSession, setLatestSession] = useState(session);
  // Set during rendering: React renders again at once, before the page shows an error of the previous session.
  if (session !== null && session !== latestSession) {
    setLatestSession(session);
    if (failure !== null && isAboutSession(failure)) {
      setFailure(null);
      if (view === null) {
        setLoading({ phase: 'opening' });
        setAttempt(attempt + 1);
      }
    }
  }
  // biome-ignore lint/correctness/useExhaustiveDependencies: runs for each new session
  useEffect(() => view?.retryFailedTiles(), [view, latestSession]);

  return (
    <>
      {placeholderUrl !== null && failure === null && (
        <img
          className={classes.standIn}
          src={placeholderUrl}
          alt=""
          fetchPriority="high"
          onError={() => setPlaceholderUrl(null)}
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

/** Returns the reason why pixels could not be loaded; `other` for unexpected errors. */
function failureOf(error: unknown): PixelFailure {
  return error instanceof PixelError ? error.failure : { kind: 'other' };
}

/** Returns whether the server rejected the image session, which a renewed session may solve. */
function isAboutSession(failure: PixelFailure): boolean {
  return failure.kind === 'session-lost' || (failure.kind === 'status' && failure.status === 401);
}
