import { type ReactNode, useCallback, useEffect, useRef, useState } from 'react';
import { loadDescriptor } from './descriptor.ts';
import { type FetchPixels, PixelError, type PixelFailure } from './pixels.ts';
import { ScaleReadout } from './ScaleReadout.tsx';
import { SlideControls } from './SlideControls.tsx';
import classes from './SlideViewer.module.css';
import type { SlideScale } from './scale.ts';
import { createSlideView, type SlideView, type TileAddress } from './slide-view.ts';
import { texts } from './texts.ts';
import { createTileLoading, type LoadingState } from './tile-loading.ts';

const quarterTurn = 90;

/** A slide as the viewer needs it. Its addresses carry no image session: `fetchPixels` adds it. */
export interface ViewedSlide {
  readonly descriptorAddress: string;
  readonly tileAddressOf: (tile: TileAddress) => string;
  readonly scale: SlideScale;
}

export interface ViewingState {
  /** What is waited for; null when everything in view is there. */
  readonly loading: LoadingState | null;
  /** Why the slide, or the rest of it, is not shown. */
  readonly failure: PixelFailure | null;
  readonly retry: () => void;
}

interface SlideViewerProps {
  /** Another object is another slide, and is opened from the beginning. */
  readonly slide: ViewedSlide;
  readonly fetchPixels: FetchPixels;
  /** The image session of the moment. A new one gives what had failed another chance. */
  readonly session: string | null;
  /** Drawn over the slide. */
  readonly children: (state: ViewingState) => ReactNode;
}

/** A zoomable slide. OpenSeadragon is created with the first slide and reused for every other. */
export function SlideViewer({ slide, fetchPixels, session, children }: SlideViewerProps) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<SlideView>(null);
  const onComplete = useRef<() => void>(undefined);
  const [loading, setLoading] = useState<LoadingState | null>({ phase: 'opening' });
  const [failure, setFailure] = useState<PixelFailure | null>(null);
  const [zoom, setZoom] = useState<number | null>(null);
  const [isShown, setShown] = useState(false);
  const [openings, setOpenings] = useState(0);
  const [isFullPage, toggleFullPage] = useFullPage();

  // biome-ignore lint/correctness/useExhaustiveDependencies: opened again when asked to
  useEffect(() => {
    const end = new AbortController();
    const { signal } = end;
    setLoading({ phase: 'opening' });
    setFailure(null);
    setZoom(null);
    setShown(false);

    async function open(element: HTMLElement) {
      const descriptor = await loadDescriptor(fetchPixels, slide.descriptorAddress, {
        signal,
        onRenewing: () => setLoading({ phase: 'renewing-session' }),
      });
      view.current ??= createSlideView(element, texts.slide, {
        onComplete: () => onComplete.current?.(),
        onZoom: setZoom,
      });

      let isComplete = false;
      onComplete.current = () => {
        isComplete = true;
        setLoading(null);
      };
      const tiles = createTileLoading({
        fetchPixels,
        signal,
        // Tiles that come while the person moves about are no news; that they do not come is.
        onChange: (state) => setLoading(isComplete && state.phase === 'tiles' ? null : state),
      });
      const load = async (address: string) => {
        try {
          return await tiles.load(address);
        } catch (error) {
          if (!signal.aborted) onTileFailed(failureOf(error), tiles.hasLoaded());
          throw error;
        }
      };
      view.current.show(descriptor, { addressOf: slide.tileAddressOf, load, signal });
      setShown(true);
    }

    /** A tile missing among others is seen as a blur; what hits all of them has to be said. */
    function onTileFailed(tileFailure: PixelFailure, hasOthers: boolean) {
      if (!hasOthers || isAboutSession(tileFailure)) setFailure(tileFailure);
    }

    if (place.current === null) return;
    open(place.current).catch((error: unknown) => {
      if (signal.aborted) return;
      setLoading(null);
      setFailure(failureOf(error));
    });
    return () => {
      view.current?.clear();
      end.abort();
    };
  }, [slide, fetchPixels, openings]);

  useEffect(
    () => () => {
      view.current?.destroy();
      view.current = null;
    },
    [],
  );

  const retry = useCallback(() => {
    if (!isShown) return setOpenings((count) => count + 1);
    setFailure(null);
    view.current?.askAgain();
  }, [isShown]);

  const sessionBefore = useRef(session);
  useEffect(() => {
    if (session === null || session === sessionBefore.current) return;
    sessionBefore.current = session;
    if (failure === null) view.current?.askAgain();
    else if (isAboutSession(failure)) retry();
  }, [session, failure, retry]);

  return (
    <div className={classes.stage} data-full-page={isFullPage || undefined}>
      <div className={classes.place} ref={place} />
      {isShown && (
        <>
          <SlideControls
            isFullPage={isFullPage}
            onZoomIn={() => view.current?.zoomIn()}
            onZoomOut={() => view.current?.zoomOut()}
            onGoHome={() => view.current?.goHome()}
            onToggleFullPage={toggleFullPage}
            onRotateLeft={() => view.current?.rotate(-quarterTurn)}
            onRotateRight={() => view.current?.rotate(quarterTurn)}
          />
          <ScaleReadout scale={slide.scale} zoom={zoom} />
        </>
      )}
      {children({ loading, failure, retry })}
    </div>
  );
}

function failureOf(error: unknown): PixelFailure {
  return error instanceof PixelError ? error.failure : { kind: 'other' };
}

function isAboutSession(failure: PixelFailure): boolean {
  return failure.kind === 'session-lost' || (failure.kind === 'status' && failure.status === 401);
}

/**
 * Covers the page, and with it the screen where the browser allows it. The whole document goes full
 * screen, not the slide alone: what is drawn elsewhere in the page (toasts, tooltips) stays visible.
 */
function useFullPage(): readonly [boolean, () => void] {
  const [isFullPage, setFullPage] = useState(false);

  useEffect(() => {
    if (!isFullPage) return;
    const leave = () => setFullPage(false);
    const onFullscreenChange = () => {
      if (document.fullscreenElement === null) leave();
    };
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') leave();
    };
    document.addEventListener('fullscreenchange', onFullscreenChange);
    document.addEventListener('keydown', onKeyDown);
    // Telephones offer no full screen, and a browser may refuse it: covering the page remains.
    document.documentElement.requestFullscreen?.().catch(() => undefined);
    return () => {
      document.removeEventListener('fullscreenchange', onFullscreenChange);
      document.removeEventListener('keydown', onKeyDown);
      if (document.fullscreenElement !== null) void document.exitFullscreen();
    };
  }, [isFullPage]);

  const toggle = useCallback(() => setFullPage((is) => !is), []);
  return [isFullPage, toggle];
}
