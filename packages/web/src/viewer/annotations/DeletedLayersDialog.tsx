import type { AnnotationLayer } from '@lamina/contract';
import { Alert, Button, Group, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useState } from 'react';
import { loadDeletedLayers, restoreLayer } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { texts } from './texts.ts';

interface DeletedLayersDialogProps {
  readonly imageId: string;
  readonly onClose: () => void;
  /** Called after each restored layer; the dialog stays open. */
  readonly onRestored: () => void;
}

/** Lists the deleted layers of a slide and restores the one that the user chooses. */
export function DeletedLayersDialog({ imageId, onClose, onRestored }: DeletedLayersDialogProps) {
  const [layers, setLayers] = useState<readonly AnnotationLayer[] | null>(null); // null while they are being loaded
  const [failure, setFailure] = useState<string | null>(null); // error message
  useEffect(() => {
    let isClosed = false;
    loadDeletedLayers(imageId).then(
      (loaded) => {
        if (!isClosed) setLayers(loaded);
      },
      (error: unknown) => {
        if (!isClosed) setFailure(messageOf(error, texts.layerFailed));
      },
    );
    return () => {
      isClosed = true;
    };
  }, [imageId]);

  const restore = (layer: AnnotationLayer) => {
    setFailure(null);
    restoreLayer(layer.id).then(
      () => {
        setLayers((before) => before?.filter(({ id }) => id !== layer.id) ?? null);
        onRestored();
      },
      (error: unknown) => setFailure(messageOf(error, texts.layerChangeFailed)),
    );
  };

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.deletedLayersTitle}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
      closeButtonProps={{ 'aria-label': texts.close }}
    >
      <Stack>
        <Text size="sm">{layers?.length === 0 ? texts.noDeletedLayers : texts.deletedLayersHint}</Text>
        {failure !== null && <Alert color="red">{failure}</Alert>}
        {layers?.map((layer) => (
          <Group key={layer.id} justify="space-between" wrap="nowrap">
            <Text size="sm" truncate>
              {layer.name} · {texts.annotationCount(layer.annotation_count)}
            </Text>
            <Button
              size="compact-sm"
              variant="default"
              aria-label={`${texts.restore}: ${layer.name}`}
              onClick={() => restore(layer)}
            >
              {texts.restore}
            </Button>
          </Group>
        ))}
      </Stack>
    </Modal>
  );
}
