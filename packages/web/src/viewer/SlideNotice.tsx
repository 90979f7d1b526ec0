import { Alert, Button, Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './SlideNotice.module.css';

interface SlideProgressProps {
  readonly title: string;
  readonly detail?: string;
}

/** In the middle of a slide, on a surface of its own: what the slide waits for. */
export function SlideProgress({ title, detail }: SlideProgressProps) {
  return (
    <div className={classes.overlay} data-quiet>
      <div className={classes.progress} role="status">
        <Loader size="sm" aria-hidden />
        <div>
          <p>{title}</p>
          {detail !== undefined && <p className={classes.detail}>{detail}</p>}
        </div>
      </div>
    </div>
  );
}

interface SlideFailureProps {
  readonly children: ReactNode;
  readonly retryLabel: string;
  readonly retry: () => void;
}

/** In the middle of a slide, on a surface of its own: why the slide is not there. */
export function SlideFailure({ children, retryLabel, retry }: SlideFailureProps) {
  return (
    <div className={classes.overlay}>
      <Alert color="red" className={classes.alert ?? ''}>
        <p>{children}</p>
        <Button size="xs" variant="default" onClick={retry}>
          {retryLabel}
        </Button>
      </Alert>
    </div>
  );
}
