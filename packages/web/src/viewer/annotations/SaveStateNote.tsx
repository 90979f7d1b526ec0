import { Button } from '@mantine/core';
import { loadAnnotationLayers } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import classes from './Annotations.module.css';
import { texts } from './texts.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';

interface SaveStateNoteProps {
  readonly slideAnnotations: SlideAnnotations;
  /** Id of the user's account. */
  readonly uid: string;
  /** Whether to show nothing unless the server is unreachable or has rejected changes. */
  readonly onlyProblems?: boolean;
}

/** Shows whether the changes are saved. After a rejection by the server, buttons send the changes again or discard them. */
export function SaveStateNote({
  slideAnnotations: { store },
  uid,
  onlyProblems = false,
}: SaveStateNoteProps) {
  useStoreVersion(store); // renders this component again after each change of the annotations
  const state = store.queue.state(); // the queue sends changes to the server
  const conflictCount = store.queue.conflicts().length;
  const discard = () => {
    loadAnnotationLayers(store.imageId).then(
      (layers) => store.discard(layers, uid),
      () => undefined, // the error message, whose button calls this function, stays on the screen
    );
  };
  if (onlyProblems && state.kind !== 'offline' && state.kind !== 'rejected') return null;
  const isAlert = state.kind === 'offline' || state.kind === 'rejected' || conflictCount > 0;
  return (
    // `data-alert` is used by the style sheet, `data-save-state` by the browser tests.
    <div
      className={classes.note}
      role="status"
      data-alert={isAlert || undefined}
      data-save-state={state.kind}
    >
      {conflictCount > 0 && `${texts.conflictsLeft(conflictCount)} `}
      {state.kind === 'saved' && texts.saved}
      {state.kind === 'saving' && texts.saving}
      {state.kind === 'offline' && texts.offline(state.count)}
      {state.kind === 'rejected' && (
        <>
          {`${texts.rejected}: ${messageOf(state.error, texts.layerChangeFailed)}`}
          <span className={classes.noteActions}>
            <Button size="compact-xs" variant="default" onClick={store.queue.retry}>
              {texts.retry}
            </Button>
            <Button size="compact-xs" variant="default" onClick={discard}>
              {texts.discard}
            </Button>
          </span>
        </>
      )}
    </div>
  );
}
