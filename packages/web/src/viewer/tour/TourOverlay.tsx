import { Button } from '@mantine/core';
import { texts as shared } from '../../language/texts.ts';
import type { ViewingState } from '../SlideViewer.tsx';
import classes from './Tour.module.css';
import { texts } from './texts.ts';

/** Over a slide: that it is loading, or why it is not there. */
export function TourOverlay({ loading, failure, retry }: ViewingState) {
  if (failure !== null) {
    return (
      <div className={classes.overlay} role="alert">
        <p>{texts.notLoaded}</p>
        <Button size="xs" variant="default" onClick={retry} style={{ pointerEvents: 'auto' }}>
          {shared.retry}
        </Button>
      </div>
    );
  }
  return loading === null ? null : (
    <p className={classes.overlay} role="status">
      {texts.loading}
    </p>
  );
}
