import { Alert, Button, Loader } from '@mantine/core';
import type { PixelFailure } from '../../viewer/pixels.ts';
import type { ViewingState } from '../../viewer/SlideViewer.tsx';
import type { LoadingState } from '../../viewer/tile-loading.ts';
import { texts } from './texts.ts';
import classes from './WsiViewer.module.css';

/** Drawn over a slide: why it is not there, else what it waits for. */
export function ViewingOverlay({ loading, failure, retry }: ViewingState) {
  if (failure !== null) {
    return (
      <div className={classes.overlay}>
        <Alert color="red" className={classes.alert ?? ''}>
          <p>{failureText(failure)}</p>
          <Button size="xs" variant="default" onClick={retry}>
            {texts.retry}
          </Button>
        </Alert>
      </div>
    );
  }
  if (loading === null) return null;
  return (
    <div className={classes.overlay} data-quiet>
      <div className={classes.progress} role="status">
        <Loader size="sm" aria-hidden />
        <div>
          <p>{texts.loadingTiles}</p>
          <p className={classes.progressText}>{progressText(loading)}</p>
        </div>
      </div>
    </div>
  );
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
