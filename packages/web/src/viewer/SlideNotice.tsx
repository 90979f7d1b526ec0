import { Alert, Button, Loader } from '@mantine/core';
import type { ReactNode } from 'react';
import classes from './SlideNotice.module.css';

interface SlideProgressProps {
  readonly title: string;
  /** Second line, such as the number of loaded tiles. */
  readonly detail?: string;
}

/** Shows, in the middle of the viewer, what the viewer is waiting for before it can show the slide. */
export function SlideProgress({ title, detail }: SlideProgressProps) {
  return (
    <div className={classes.overlay}>
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
  /** The message to the user. */
  readonly children: ReactNode;
  readonly retryLabel: string;
  readonly retry: () => void;
}

/** Shows, in the middle of the viewer, why the slide or its tiles could not be loaded, with a button to retry. */
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
