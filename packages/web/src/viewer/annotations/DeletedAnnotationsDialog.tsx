import type { AnnotationFeature } from '@lamina/annotations';
import type { AnnotationRevision } from '@lamina/contract';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { loadLayerHistory, restoreDeletedAnnotation } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { readFeature } from './annotation.ts';
import { descriptionOf } from './description-of.ts';
import { texts } from './texts.ts';

interface DeletedAnnotationsDialogProps {
  readonly layerId: string;
  readonly onClose: () => void;
  /** Called after each restored annotation; the dialog stays open. */
  readonly onRestored: () => void;
}

/** Time after its deletion in which an annotation can be restored, in milliseconds: 30 days. */
const restorableMs = 30 * 24 * 3_600_000;

/** Lists the annotations of a layer that were deleted, the latest deletion first, and restores the one that the user chooses. */
export function DeletedAnnotationsDialog({ layerId, onClose, onRestored }: DeletedAnnotationsDialogProps) {
  /** The loaded changes of the layer, newest first; null before the first ones are loaded. */
  const [revisions, setRevisions] = useState<readonly AnnotationRevision[] | null>(null);
  const [openedAt] = useState(() => Date.now());
  /** Cursors of two pages of changes: the requested page (null: the newest), and the next older page (null: none to offer). */
  const [cursors, setCursors] = useState<{
    readonly requested: string | null;
    readonly older: string | null;
  }>({
    requested: null,
    older: null,
  });
  const [loadFailure, setLoadFailure] = useState<string | null>(null); // error message
  const [restoreFailure, setRestoreFailure] = useState<string | null>(null); // error message
  /** Number of retries: each increment loads the requested page again. */
  const [retryCount, setRetryCount] = useState(0);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `retryCount` starts the effect again
  useEffect(() => {
    let isClosed = false;
    loadLayerHistory(layerId, cursors.requested).then(
      (page) => {
        if (isClosed) return;
        setRevisions((before) => [...(before ?? []), ...page.revisions]);
        // If the oldest change of the page is too old to be restored, so are all changes of older pages.
        const oldest = page.revisions.at(-1);
        const isRestorable = oldest !== undefined && openedAt - Date.parse(oldest.at) < restorableMs;
        setCursors(({ requested }) => ({ requested, older: isRestorable ? page.next_cursor : null }));
      },
      (error: unknown) => {
        if (!isClosed) setLoadFailure(messageOf(error, texts.historyFailed));
      },
    );
    return () => {
      isClosed = true;
    };
  }, [layerId, cursors.requested, openedAt, retryCount]);

  const retry = () => {
    setLoadFailure(null);
    setRetryCount(retryCount + 1);
  };
  const restore = ({ annotation }: AnnotationRevision) => {
    setRestoreFailure(null);
    restoreDeletedAnnotation(layerId, annotation).then(
      () => {
        setRevisions((before) => before?.filter((revision) => revision.annotation !== annotation) ?? null);
        onRestored();
      },
      (error: unknown) => setRestoreFailure(messageOf(error, texts.restoreFailed)),
    );
  };
  const deletions = deletionsIn(revisions ?? [], openedAt - restorableMs);

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.deletedAnnotationsTitle}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
      closeButtonProps={{ 'aria-label': texts.close }}
    >
      <Stack>
        <Text size="sm">
          {revisions !== null && deletions.length === 0
            ? texts.noDeletedAnnotations
            : texts.deletedAnnotationsHint}
        </Text>
        {restoreFailure !== null && <Alert color="red">{restoreFailure}</Alert>}
        {deletions.map(({ revision, version }) => {
          const label = version === null ? texts.annotation : descriptionOf(version);
          return (
            <Group key={revision.annotation} justify="space-between" wrap="nowrap">
              <Text size="sm">
                {label}
                <br />
                {texts.changes.delete}: {revision.author_name ?? texts.unknownAuthor},{' '}
                {formatDateAndTime(revision.at)}
              </Text>
              <Button
                size="compact-sm"
                variant="default"
                aria-label={`${texts.restore}: ${label}`}
                onClick={() => restore(revision)}
              >
                {texts.restore}
              </Button>
            </Group>
          );
        })}
        {loadFailure !== null && (
          <Alert color="red">
            <Group justify="space-between">
              {loadFailure}
              <Button size="compact-sm" variant="default" onClick={retry}>
                {texts.retry}
              </Button>
            </Group>
          </Alert>
        )}
        {cursors.older !== null && (
          <Button variant="default" onClick={() => setCursors({ requested: cursors.older, older: null })}>
            {texts.olderDeletions}
          </Button>
        )}
      </Stack>
    </Modal>
  );
}

/** A deletion that is the last change of its annotation. */
interface Deletion {
  readonly revision: AnnotationRevision;
  /** The annotation before the deletion; null when its previous revision is not loaded. */
  readonly version: AnnotationFeature | null;
}

/**
 * Returns the deletions of annotations that are still deleted, latest first.
 *
 * @param revisions changes of a layer, newest first
 * @param since time in milliseconds since 1970; earlier deletions are left out
 */
function deletionsIn(revisions: readonly AnnotationRevision[], since: number): readonly Deletion[] {
  return [...Map.groupBy(revisions, ({ annotation }) => annotation).values()].flatMap(
    (changes): readonly Deletion[] => {
      const [last, previous] = changes;
      if (last?.change !== 'delete' || Date.parse(last.at) < since) return [];
      return [{ revision: last, version: readFeature(previous?.feature) }];
    },
  );
}
