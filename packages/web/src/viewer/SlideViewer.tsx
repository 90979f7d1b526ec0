import { type ComponentType, useCallback, useEffect, useEffectEvent, useMemo, useRef, useState } from 'react';
import { useWhenIdle } from '../use-when-idle.ts';
import { asScanned, type ColourAdjustment } from './colours/adjustment.ts';
import { firstTiles } from './first-tiles.ts';
import { Instruments } from './Instruments.tsx';
import { type FetchPixels, mayPass, PixelError, type PixelFailure } from './pixels.ts';
import type { DescriptorSupply } from './preload.ts';
import classes from './SlideViewer.module.css';
import { calibrationOf, type SlideScale } from './scale.ts';
import { createSlideView, isSamePose, type Pose, type SlideView, type TileAddress } from './slide-view.ts';
import { texts } from './texts.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';
import { useFullPage } from './use-full-page.ts';
import type { SlideField } from './view-address.ts';

/** What could not be opened and may pass is tried again by itself after so long. */
const tryAgainMs = 10_000;
/** A view that has not changed for so long is worth an address. */
const settledMs = 250;

/** A slide as the viewer needs it. Its addresses carry no image session: `fetchPixels` adds it. */
export interface ViewedSlide {
  /** Another address is another slide. */
  readonly descriptorAddress: string;
  readonly tileAddressOf: (tile: TileAddress) => string;
  readonly scale: SlideScale;
  /** Stands on screenshots. */
  readonly name: string;
}

export interface ViewingState {
  /** What is waited for; null when everything in view is there. */
  readonly loading: LoadingState | null;
  /** Why the slide, or the rest of it, is not shown. */
  readonly failure: PixelFailure | null;
  readonly retry: () => void;
}

interface SlideViewerProps {
  /** Null while none is chosen; the place is made ready for one meanwhile. */
  readonly slide: ViewedSlide | null;
  /** Address of the slide as a small picture, seen until there are tiles; null when there is none. */
  readonly picture: string | null;
  readonly fetchPixels: FetchPixels;
  readonly descriptors: DescriptorSupply;
  /** The image session of the moment. A new one gives what had failed for the old another chance. */
  readonly session: string | null;
  /** What to show of the slide when it is opened; null shows the whole of it. */
  readonly fieldAtFirst: () => SlideField | null;
  /** After every movement, once it is clear where it leads. */
  readonly onField: (field: SlideField) => void;
  /** Hears of the view once it shows the slide, and of null when that is put away. It stays the same function. */
  readonly onView: (view: SlideView | null) => void;
  /** Whether the keys of the page are meant for this slide. */
  readonly hasKeys: boolean;
  /** Drawn over the slide. */
  readonly Overlay: ComponentType<ViewingState>;
}

/** A zoomable slide. OpenSeadragon is created once, when there is time for it, and reused for every slide. */
export function SlideViewer({ slide, ...props }: SlideViewerProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<SlideView>(null);
  const [isFullPage, toggleFullPage] = useFullPage();
  /** Stays from slide to slide: it is for this eye and this screen. */
  const [colours, setColours] = useState<ColourAdjustment>(asScanned);

  const viewHere = useCallback(() => {
    if (place.current === null) throw new Error('The viewer is not in the page.');
    view.current ??= createSlideView(place.current, texts.slide);
    return view.current;
  }, []);

  useEffect(() => {
    // Before the first slide is chosen: then every moment counts.
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
          colours={colours}
          onColours={setColours}
          {...props}
        />
      )}
    </div>
  );
}

interface OpenSlideProps extends SlideViewerProps {
  readonly slide: ViewedSlide;
  /** The view to show it in, created when it is first needed. */
  readonly viewHere: () => SlideView;
  readonly isFullPage: boolean;
  readonly onToggleFullPage: () => void;
  readonly colours: ColourAdjustment;
  readonly onColours: (colours: ColourAdjustment) => void;
}

/** One slide from its opening to its putting away. */
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
    onField,
    onView,
  } = props;
  const [loading, setLoading] = useState<LoadingState | null>({ phase: 'opening' });
  const [failure, setFailure] = useState<PixelFailure | null>(null);
  const [pose, setPose] = useState<Pose | null>(null);
  /** The view while it shows this slide; null before. */
  const [view, setView] = useState<SlideView | null>(null);
  /** Its instruments are drawn when there is time for them: until then every moment is for its first tiles. */
  const viewOfInstruments = useWhenIdle(view);
  const [attempt, setAttempt] = useState(0);
  /** It stands where the whole slide will; a renewed session is no new picture. */
  const [standIn, setStandIn] = useState(() => (fieldAtFirst() === null ? picture : null));
  const calibration = useMemo(() => calibrationOf(slide.scale), [slide.scale]);

  const openingField = useEffectEvent(() => fieldAtFirst());
  const tellField = useEffectEvent((field: SlideField) => onField(field));

  // biome-ignore lint/correctness/useExhaustiveDependencies: another attempt is another opening
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    let shown: SlideView | null = null;
    let settling: ReturnType<typeof setTimeout> | undefined;
    let lastField = '';
    /** What is to be said at the next frame; undefined when nothing is. */
    let news: LoadingState | null | undefined;
    let frame = 0;

    async function open() {
      const descriptor = await descriptors.load(slide.descriptorAddress, {
        signal,
        onRenewing: () => setLoading({ phase: 'renewing-session' }),
      });

      setFailure(null);
      let isComplete = false;
      const tiles = createTileLoading({
        fetchPixels,
        signal,
        // Tiles that come while the person moves about are no news; that they do not come is.
        onChange: (state) => tell(isComplete && state.phase === 'tiles' ? null : state),
      });
      const load = async (address: string) => {
        try {
          const tile = await tiles.load(address);
          setFailure(null); // whatever it was, it is over
          return tile;
        } catch (error) {
          if (!signal.aborted) onTileFailed(failureOf(error), tiles.hasLoaded());
          throw error;
        }
      };
      const onComplete = () => {
        isComplete = true;
        tell(null);
        setStandIn(null);
      };
      shown = viewHere();
      const field = openingField();
      tiles.preload(firstTiles(descriptor, shown.size(), field).map(slide.tileAddressOf));
      shown.show(descriptor, { addressOf: slide.tileAddressOf, load, signal }, field, {
        onComplete,
        onField: onFieldChanged,
        onMove: (moved) =>
          setPose((before) => (before !== null && isSamePose(before, moved) ? before : moved)),
      });
      setView(shown);
    }

    /** Tiles come by the dozen: what is said of them is drawn once a frame. */
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
      if (lastField !== '') setStandIn(null); // it would not move along
      lastField = changed;
      clearTimeout(settling);
      settling = setTimeout(() => tellField(field), settledMs);
    }

    /** A tile missing among others is seen as a blur; what hits all of them has to be said. */
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

  const isOpened = pose !== null;
  useEffect(() => {
    if (view === null || !isOpened) return;
    onView(view);
    return () => onView(null);
  }, [view, isOpened, onView]);

  const retry = () => {
    setFailure(null);
    if (view !== null) return view.askAgain();
    setLoading({ phase: 'opening' });
    setAttempt(attempt + 1);
  };

  // A server that restarts, or whose database does, is back in a while. What is said stays until it is.
  useEffect(() => {
    if (view !== null || failure === null || !mayPass(failure)) return;
    const timer = setTimeout(() => setAttempt((before) => before + 1), tryAgainMs);
    return () => clearTimeout(timer);
  }, [failure, view]);

  // The network is back, or the computer has woken up: what failed meanwhile is asked for at once.
  useEffect(() => {
    if (view === null) return;
    const askAgain = () => {
      if (document.visibilityState !== 'visible') return;
      setFailure((before) => (before?.kind === 'other' ? null : before));
      view.askAgain();
    };
    window.addEventListener('online', askAgain);
    document.addEventListener('visibilitychange', askAgain);
    return () => {
      window.removeEventListener('online', askAgain);
      document.removeEventListener('visibilitychange', askAgain);
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
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new session is what it waits for
  useEffect(() => view?.askAgain(), [view, knownSession]);

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
          calibration={calibration}
          isFullPage={props.isFullPage}
          onToggleFullPage={props.onToggleFullPage}
          colours={props.colours}
          onColours={props.onColours}
          hasKeys={props.hasKeys}
        />
      )}
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
