import { Button } from '@mantine/core';
import { loadAnnotationLayers } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import { saveFile } from '../../browser/save-file.ts';
import classes from './Annotations.module.css';
import type { PendingChange } from './pending-change.ts';
import { texts } from './texts.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';

interface SaveStateNoteProps {
  readonly slideAnnotations: SlideAnnotations;
  /** Id of the user's account. */
  readonly uid: string;
  /** Whether to show nothing unless the server is unreachable or has rejected changes. */
  readonly onlyProblems?: boolean;
}

/**
 * Shows whether the changes are saved. After a rejection by the server, buttons send the changes again or discard them. For annotations
 * that are too large to be sent, buttons save them as a file, which can be imported, or discard the changes.
 */
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
  const hasProblem = state.kind !== 'saved' && state.kind !== 'saving';
  if (onlyProblems && !hasProblem) return null;
  const isAlert = hasProblem || conflictCount > 0;
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
      {state.kind === 'too-large' && (
        <>
          {texts.tooLarge(state.changes.length)}
          <span className={classes.noteActions}>
            <Button size="compact-xs" variant="default" onClick={() => saveAsFile(state.changes)}>
              {texts.saveAsFile}
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

/** Saves the annotations of changes as a GeoJSON file, which the import accepts up to 64 MiB. */
function saveAsFile(changes: readonly PendingChange[]): void {
  const features = changes.map(({ feature }) => feature); // already in the form of QuPath's GeoJSON
  const json = JSON.stringify({ type: 'FeatureCollection', features });
  saveFile(new Blob([json], { type: 'application/geo+json' }), `${texts.annotations}.geojson`);
}
