import type { AnnotationFeature } from '@lamina/annotations';
import type { AnnotationRevision } from '@lamina/contract';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { loadHistory } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import { formatDateAndTime } from '../../formatting/dates.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { type Annotation, classNameOf, readFeature } from './annotation.ts';
import { texts } from './texts.ts';

interface HistoryDialogProps {
  readonly annotation: Annotation;
  /** Replaces the current version with an earlier version; null when the user may not change the annotation. */
  readonly onUse: ((version: AnnotationFeature) => void) | null;
  readonly onClose: () => void;
}

/** Lists the revisions (saved changes) of an annotation with author and time, and offers to return to one of them. */
export function HistoryDialog({ annotation, onUse, onClose }: HistoryDialogProps) {
  const {
    layerId,
    feature: { id },
  } = annotation;
  const [revisions, setRevisions] = useState<readonly AnnotationRevision[] | null>(null); // null while they are being loaded
  const [failure, setFailure] = useState<string | null>(null); // error message
  useEffect(() => {
    let isClosed = false;
    loadHistory(layerId, id).then(
      (loaded) => {
        if (!isClosed) setRevisions(loaded);
      },
      (error: unknown) => {
        if (!isClosed) setFailure(messageOf(error, texts.historyFailed));
      },
    );
    return () => {
      isClosed = true;
    };
  }, [layerId, id]);

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.historyTitle}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
      closeButtonProps={{ 'aria-label': texts.close }}
    >
      <Stack>
        {failure !== null && <Alert color="red">{failure}</Alert>}
        {revisions?.length === 0 && <Text size="sm">{texts.historyEmpty}</Text>}
        {revisions?.map((revision) => {
          // A deletion has no feature.
          const version = revision.feature === null ? null : readFeature(revision.feature);
          const isCurrent = revision.revision === annotation.revision;
          return (
            <Group key={revision.revision} justify="space-between" wrap="nowrap" align="flex-start">
              <Text size="sm">
                {texts.changes[revision.change]}: {revision.author_name ?? texts.unknownAuthor}
                <br />
                {formatDateAndTime(revision.at)}
                {version !== null && ` · ${classNameOf(version) ?? texts.noClass}`}
              </Text>
              {onUse !== null && version !== null && !isCurrent && (
                <Button
                  size="compact-xs"
                  variant="default"
                  onClick={() => {
                    onUse(version);
                    onClose();
                  }}
                >
                  {texts.useVersion}
                </Button>
              )}
            </Group>
          );
        })}
      </Stack>
    </Modal>
  );
}
