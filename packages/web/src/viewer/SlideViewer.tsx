/**
 * The React component that shows a slide: it opens the slide, shows progress and errors, retries, and renders the
 * controls. The zoomable view itself is `slide-view.ts`. This file is long, because opening, retrying and the renewal
 * of image sessions (the credentials for loading pixels) share the state of one slide.
 */
import { type ComponentType, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { onPossibleReconnect } from '../browser/on-possible-reconnect.ts';
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
import type { SlideField } from './view-address.ts';
import type { ViewedSlide } from './viewed-slide.ts';

/** Delay before the viewer tries again to open a slide, after a failure that may be temporary. */
const openRetryDelayMs = 10_000;
/** `onField` is called when the view has not changed for this long. */
const fieldDelayMs = 250;
/** Maximum time for which opening a slide waits for the thumbnail; the viewer searches for tissue in the thumbnail. */
const maxTissueSearchMs = 1500;

/** Progress and errors of the slide, which the component `Overlay` shows over it. */
export interface ViewingState {
  /** Progress of opening or loading; null when all visible tiles are loaded. */
  readonly loading: LoadingState | null;
  /** Error to show instead of the slide or over it; null when there is none. */
  readonly failure: PixelFailure | null;
  readonly retry: () => void;
}

interface SlideViewerProps {
  /** The slide to show; null while none is chosen: the viewer then only prepares itself for the first slide. */
  readonly slide: ViewedSlide | null;
  /** URL of the thumbnail that is shown until tiles are loaded; null when there is none. */
  readonly thumbnailUrl: string | null;
  readonly fetchPixels: FetchPixels;
  /** Loads the Deep Zoom descriptors of slides: their size and their division into tiles. */
  readonly descriptors: DescriptorSupply;
  /**
   * The current image session; null before the first one is created. With a new session, the viewer retries the
   * requests that failed with the previous one.
   */
  readonly session: string | null;
  /** Returns the field (the visible part of the slide) to show first; null: the whole slide. */
  readonly initialField: () => SlideField | null;
  /** Whether the viewer moves the first field to tissue nearby when it would show blank glass. */
  readonly avoidsGlass?: boolean;
  /** Called with the new field after a movement, as soon as the view has been still for 250 ms. */
  readonly onField: (field: SlideField) => void;
  /**
   * Called with the view when it shows the slide, and with null when the slide is closed. Must be a stable function
   * (useCallback).
   */
  readonly onView: (view: SlideView | null) => void;
  /**
   * Called with the reason when the view is not sharp, and with null when the view is sharp or the slide is closed.
   * Must be a stable function.
   */
  readonly onIncomplete: (incomplete: Incompleteness | null) => void;
  /** The colour adjustment for all slides; null: each slide opens as scanned. */
  readonly keptColours: ColourAdjustment | null;
  /** Called with the adjustment that the user keeps for all slides; null when the user stops keeping it. */
  readonly onKeepColours: (colours: ColourAdjustment | null) => void;
  /** Whether the viewer corrects the colours of slides whose file contains a colour profile. */
  readonly isCorrected: boolean;
  /** Called when the user switches the correction by colour profiles on or off. */
  readonly onCorrect: (isCorrected: boolean) => void;
  /** Whether the user works on this slide: it then shows its tools and handles the keyboard shortcuts of the page. */
  readonly handlesKeys: boolean;
  /** Component that renders messages over the slide: progress and errors. */
  readonly Overlay: ComponentType<ViewingState>;
}

/**
 * A zoomable slide with its controls. The component creates the view (with OpenSeadragon) once and reuses it for every slide.
 */
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
    // Creates the view when the browser is idle, usually before a slide is chosen. `OpenSlide` creates the view if a slide is opened
    // earlier, and in Safari, which does not support requestIdleCallback.
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
      <div className={classes.viewer} ref={viewerElement} />
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
  /** Returns the view; the first call creates it. */
  readonly getOrCreateView: () => SlideView;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
}

/** Opens a slide, shows it, and closes it when the component is removed. */
// oxlint-disable-next-line lamina/max-own-lines -- the hooks share the state of one slide
function OpenSlide(props: OpenSlideProps) {
  const {
    slide,
    thumbnailUrl,
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
  const [loading, setLoading] = useState<LoadingState | null>({ phase: 'opening' }); // null: no progress to show
  /** The error that the user sees; null when there is none. A single missing tile is only visible as blur. */
  const [failure, setFailure] = useState<PixelFailure | null>(null);
  /** Zoom, rotation and mirroring of the view; null until the slide is open. */
  const [pose, setPose] = useState<Pose | null>(null);
  /** The view; null until it shows this slide. */
  const [view, setView] = useState<SlideView | null>(null);
  /** The view for the controls; null until the browser is idle, because the first tiles are more important than the controls. */
  const viewOfInstruments = useWhenIdle(view);
  /** Number of the attempt to open the slide; a new number opens the slide again. */
  const [attempt, setAttempt] = useState(0);
  /** How often the view has opened the slide. Opening it again removes the colour table; the new number makes `ShownColours` set it again. */
  const [openings, setOpenings] = useState(0);
  /**
   * URL of the thumbnail that is shown until tiles are loaded; null when none is shown. It shows the whole slide, so it is not
   * used for a field that is only a part of the slide. The URL is state, so that it stays the same when a renewed image
   * session changes `thumbnailUrl`.
   */
  const [placeholderUrl, setPlaceholderUrl] = useState(() => (initialField() === null ? thumbnailUrl : null));
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
  /** The ICC profile in the slide's file; null when there is none, and until the descriptor is loaded. */
  const [profile, setProfile] = useState<ColourProfile | null>(null);
  /**
   * The profile whose colour table the view needs. Null also for a profile without a usable table (`tableSize` is null), and in a browser
   * for which the server corrects the colours.
   */
  const profileOfTable = view?.correctsColours && isCorrected && profile?.tableSize != null ? profile : null;
  const { table, hasFailed: hasTableFailed } = useColourTable(
    profileOfTable,
    slide.colourTableUrl,
    fetchPixels,
  );
  const reasonWithoutTable = hasTableFailed ? 'failed' : 'loading';
  const colours = useColours(props.keptColours, props.onKeepColours, {
    profile,
    isCorrected,
    missingTable: profileOfTable === null || table !== null ? null : reasonWithoutTable,
    setCorrected: onCorrect,
  });
  const calibration = useMemo(() => calibrationOf(slide.scale), [slide.scale]);

  /** The field that was visible when `reopenForColours` opened the slide again; null before that. */
  const fieldBeforeReopening = useRef<SlideField | null>(null);
  /** Returns the field with which the slide opens; null: the whole slide. */
  const fieldForOpening = useEffectEvent(
    async (descriptor: DeepZoomDescriptor, size: Size, signal: AbortSignal): Promise<SlideField | null> => {
      if (fieldBeforeReopening.current !== null) return fieldBeforeReopening.current;
      const field = initialField();
      if (field === null || !avoidsGlass || thumbnailUrl === null) return field;
      const searchSignal = AbortSignal.any([signal, AbortSignal.timeout(maxTissueSearchMs)]);
      return loadSmallPicture(thumbnailUrl, searchSignal).then(
        (thumbnail) => fieldOnTissue(thumbnail, descriptor, size, field),
        () => field, // without the thumbnail, the field is not moved to tissue
      );
    },
  );
  /**
   * Returns the function that builds the URLs of tiles. In a browser that cannot correct colours, these URLs request tiles that
   * the server has corrected.
   */
  const createTileUrlBuilder = useEffectEvent(
    (newView: SlideView, { profile: slideProfile }: DeepZoomDescriptor) => {
      const isServerCorrecting = isCorrected && !newView.correctsColours && slideProfile?.tableSize != null;
      return (tile: TileCoordinates) => slide.tileUrlOf(tile, isServerCorrecting ? 'srgb' : undefined);
    },
  );
  const publishField = useEffectEvent((field: SlideField) => onField(field));

  // biome-ignore lint/correctness/useExhaustiveDependencies: each attempt opens the slide again
  useEffect(() => {
    const abortController = new AbortController();
    const { signal } = abortController;
    let openedView: SlideView | null = null;
    let fieldTimer: ReturnType<typeof setTimeout> | undefined;
    /** The last field as JSON; empty before the first field is known. */
    let lastFieldJson = '';
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
        // After the first complete view, the progress of tiles is no longer shown; a renewal of the session still is.
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
      const urlOf = createTileUrlBuilder(openedView, descriptor);
      const firstVisibleTiles = firstTiles(descriptor, openedView.size(), field);
      const preloadedBlobs = tiles.preload(firstVisibleTiles.map(urlOf));
      // Decodes the first tiles as soon as they are loaded, while OpenSeadragon still prepares its requests for them.
      for (const [index, tile] of firstVisibleTiles.entries()) {
        const blob = preloadedBlobs[index];
        // A failure is ignored here: OpenSeadragon requests the same tile, and `load` handles its failure.
        if (blob) openedView.prefetch(tile, urlOf(tile), () => blob).catch(() => undefined);
      }
      // Loads the tiles that the user will probably need next, while the view is sharp and does not move.
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
      setOpenings((before) => before + 1);
    }

    /** Sets the state `loading` at most once per frame, because many tiles may be loaded in one frame. */
    function scheduleProgress(state: LoadingState | null) {
      if (pendingProgress === undefined) {
        frame = requestAnimationFrame(() => {
          setLoading(pendingProgress ?? null);
          pendingProgress = undefined;
        });
      }
      pendingProgress = state;
    }

    /** Reports a new field after `fieldDelayMs`, unless the field changes again within this time. */
    function onFieldChanged(field: SlideField) {
      const fieldJson = JSON.stringify(field);
      if (fieldJson === lastFieldJson) return;
      if (lastFieldJson !== '') setPlaceholderUrl(null); // the thumbnail does not move with the view
      lastFieldJson = fieldJson;
      clearTimeout(fieldTimer);
      fieldTimer = setTimeout(() => publishField(field), fieldDelayMs);
    }

    /** Shows a message if no tile has been loaded yet or the session is lost. Otherwise, a missing tile is only visible as blur. */
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

  /** Opens the slide again, to load tiles in other colours, if the server and not the view corrects the colours. */
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
    // `all` includes tiles that the server did not have, for example because the file of the slide was missing for a while.
    if (view !== null) return view.retryFailedTiles('all');
    setLoading({ phase: 'opening' });
    setAttempt(attempt + 1);
  };

  // Tries again to open the slide after a failure that may be temporary, such as a restart of the server. The message stays until
  // the slide is open.
  useEffect(() => {
    if (view !== null || failure === null || !canRetry(failure)) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), openRetryDelayMs);
    return () => clearTimeout(timer);
  }, [failure, view]);

  // Requests failed tiles again as soon as the network is available again or the page becomes visible.
  useEffect(() => {
    if (view === null) return;
    return onPossibleReconnect(() => {
      setFailure((before) => (before?.kind === 'other' ? null : before)); // `other` is usually a network error
      view.retryFailedTiles();
    });
  }, [view]);

  const [latestSession, setLatestSession] = useState(session); // the last session that is not null
  // Set during rendering: React renders again immediately, before the page shows an error of the previous session.
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
          className={classes.placeholder}
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
          annotatedSlide={slide.annotatedSlide}
          calibration={calibration}
          shownPlane={slide.shownPlane ?? null}
          isFullPage={props.isFullPage}
          onToggleFullPage={props.onToggleFullPage}
          colours={colours}
          incomplete={incomplete}
          handlesKeys={props.handlesKeys}
        />
      )}
      {view !== null && (
        <ShownColours
          key={openings}
          view={view}
          adjustment={colours.adjustment}
          table={isCorrected ? table : null}
        />
      )}
      <PictureNotes
        incomplete={incomplete}
        onRetry={() => view?.retryFailedTiles('all')} // `all` includes the tiles that the server does not have
        hasTableFailed={colours.missingTable === 'failed'}
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

/** Returns whether the server rejected the image session or no session could be created. A new session may solve this. */
function isAboutSession(failure: PixelFailure): boolean {
  return failure.kind === 'session-lost' || (failure.kind === 'status' && failure.status === 401);
}
