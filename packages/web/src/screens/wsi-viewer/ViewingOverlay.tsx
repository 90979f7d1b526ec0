import type { PixelFailure } from '../../viewer/pixels.ts';
import { SlideFailure, SlideProgress } from '../../viewer/SlideNotice.tsx';
import type { ViewingState } from '../../viewer/SlideViewer.tsx';
import type { LoadingState } from '../../viewer/tile-loading.ts';
import { texts } from './texts.ts';

/** Covers a slide in the viewer: with the loading progress, or, after a failure, with its reason and a retry button. */
export function ViewingOverlay({ loading, failure, retry }: ViewingState) {
  if (failure !== null) {
    return (
      <SlideFailure retryLabel={texts.retry} retry={retry}>
        {failureText(failure)}
      </SlideFailure>
    );
  }
  if (loading === null) return null;
  return <SlideProgress title={texts.loadingTiles} detail={progressText(loading)} />;
}

function progressText(loading: LoadingState): string {
  switch (loading.phase) {
    case 'opening':
      return texts.opening;
    case 'tiles':
      return texts.tiles(loading.loaded, loading.requested);
    case 'retrying':
      return texts.retryingTiles;
    case 'renewing-session':
      return texts.renewingSession;
  }
}

function failureText(failure: PixelFailure): string {
  switch (failure.kind) {
    case 'status':
      return texts.serverError(failure.status, failure.message);
    case 'unreadable':
      return texts.unreadable;
    case 'session-lost':
      return texts.sessionLost;
    case 'other':
      return texts.imageFailed;
  }
}
