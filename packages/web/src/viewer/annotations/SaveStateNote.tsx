import { Button } from '@mantine/core';
import { messageOf } from '../../api/client.ts';
import classes from './Annotations.module.css';
import { texts } from './texts.ts';
import { type OpenAnnotations, useStoreVersion } from './use-annotations.ts';

interface SaveStateNoteProps {
  readonly openAnnotations: OpenAnnotations;
  /** Drops the changes that the server has rejected. */
  readonly onDiscard: () => void;
}

/** Shows whether the changes are saved; when the server rejected them, it offers to retry or to discard them. */
export function SaveStateNote({ openAnnotations: { store }, onDiscard }: SaveStateNoteProps) {
  useStoreVersion(store); // renders this component again after each change of the annotations
  const state = store.queue.state();
  const conflictCount = store.queue.conflicts().length;
  const isAlert = state.kind === 'offline' || state.kind === 'rejected' || conflictCount > 0;
  return (
    // The style sheet reads `data-alert`, the browser tests read `data-save-state`.
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
            <Button size="compact-xs" variant="default" onClick={onDiscard}>
              {texts.discard}
            </Button>
          </span>
        </>
      )}
    </div>
  );
}
