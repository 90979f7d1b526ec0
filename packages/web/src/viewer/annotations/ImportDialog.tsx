import { type AnnotationImport, AppError } from '@lamina/contract';
import { Alert, Button, Checkbox, Group, List, Modal, Stack, Text } from '@mantine/core';
import { useEffect, useRef, useState } from 'react';
import { createLayer, deleteLayer, importFile } from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import { formatNumber } from '../../formatting/numbers.ts';
import { chosenLanguageOr } from '../../language/language.ts';
import { isNewLayer } from './pending-change.ts';
import { maxLayerNameLength } from './RenameDialog.tsx';
import { texts } from './texts.ts';
import type { SlideAnnotations } from './use-annotations.ts';

/** The dialog lists at most this many classes and this many rejected features. */
const maxListed = 10;

interface ImportDialogProps {
  readonly slideAnnotations: SlideAnnotations;
  readonly file: File;
  /** Whether files may have coordinates from the scanned area of the slide: QuPath shows only this area of a MIRAX slide. */
  readonly hasScannedArea: boolean;
  readonly onClose: () => void;
  readonly onImported: () => void;
}

/** Checks an annotation file on the server, shows what it contains, and imports it when the user confirms. */
export function ImportDialog({
  slideAnnotations: { store },
  file,
  hasScannedArea,
  onClose,
  onImported,
}: ImportDialogProps) {
  /** The layer that receives the annotations; null until the file is checked. */
  const [layerId, setLayerId] = useState<string | null>(null);
  const [preview, setPreview] = useState<AnnotationImport | null>(null); // null until the file is checked
  const [failure, setFailure] = useState<string | null>(null); // error message
  /** Whether the coordinates in the file count from the scanned area of the slide. The check of the file does not depend on it. */
  const [isFromScannedArea, setFromScannedArea] = useState(false);
  const [isImporting, setImporting] = useState(false);
  /** Whether the server has imported the annotations, or may have: the layer must then not be deleted. */
  const mayBeImported = useRef(false);

  useEffect(() => {
    let isClosed = false;
    /** The layer that this dialog has created because the user had none on this slide; null if the user had a layer. */
    let createdLayerId: string | null = null;
    /** Deletes the layer that this dialog has created, unless the import may have filled it. */
    const discardEmptyLayer = () => {
      if (createdLayerId === null || mayBeImported.current) return;
      void deleteLayer(createdLayerId).catch(() => undefined); // after a failure, the empty layer stays on the server
      createdLayerId = null;
    };
    const check = async () => {
      const { activeLayerId } = store;
      if (isNewLayer(activeLayerId)) {
        // The user has no layer on this slide yet: the id is only a placeholder.
        const name = file.name.slice(0, maxLayerNameLength);
        const createdLayer = await createLayer(store.imageId, name, 'import');
        createdLayerId = createdLayer.id;
        if (isClosed) return discardEmptyLayer(); // the cleanup below ran before the layer was created
      }
      const targetLayerId = createdLayerId ?? activeLayerId;
      const result = await importFile(targetLayerId, file, { isDryRun: true, offset: 'none' });
      if (isClosed) return;
      setLayerId(targetLayerId);
      setPreview(result);
    };
    check().catch((error: unknown) => {
      if (!isClosed) setFailure(messageOf(error, texts.importFailed));
      discardEmptyLayer();
    });
    return () => {
      isClosed = true;
      discardEmptyLayer();
    };
  }, [store, file]);

  const startImport = async () => {
    if (layerId === null) return;
    setImporting(true);
    mayBeImported.current = true;
    try {
      await importFile(layerId, file, { isDryRun: false, offset: isFromScannedArea ? 'bounds' : 'none' });
      onImported();
      onClose();
    } catch (error) {
      // An AppError is a rejection by the server. After any other error, the server may have imported the file.
      mayBeImported.current = !(error instanceof AppError);
      setFailure(messageOf(error, texts.importFailed));
    } finally {
      setImporting(false);
    }
  };
  const layerName = store.layers.find(({ id }) => id === layerId)?.name ?? file.name;

  return (
    <Modal
      opened
      onClose={onClose}
      title={`${texts.importTitle}: ${file.name}`}
      lang={chosenLanguageOr('en')} // English unless the user has chosen Turkish
      portalProps={{ target: 'main' }} // outside of `main`, the dialog's header would count as a second header of the page
      closeButtonProps={{ 'aria-label': texts.close }}
    >
      <Stack>
        {preview === null && failure === null && (
          <Text size="sm" role="status">
            {texts.importReading}
          </Text>
        )}
        {failure !== null && <Alert color="red">{failure}</Alert>}
        {preview !== null && <Preview preview={preview} layerName={layerName} />}
        {hasScannedArea && (
          <Checkbox
            label={texts.fromScannedArea}
            checked={isFromScannedArea}
            onChange={({ currentTarget }) => setFromScannedArea(currentTarget.checked)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button
            loading={isImporting}
            disabled={preview === null || preview.features === 0}
            onClick={() => void startImport()}
          >
            {texts.importStart(preview?.features ?? 0)}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}

/** Shows the classes in the file, warnings, and the features that the server rejects. */
function Preview({ preview, layerName }: { readonly preview: AnnotationImport; readonly layerName: string }) {
  return (
    <>
      <Text size="sm">
        {texts.importFound(preview.features)} {texts.importInto(layerName)}
      </Text>
      <List size="sm">
        {preview.classes.slice(0, maxListed).map(({ name, count }) => (
          <List.Item key={name ?? ''}>
            {name ?? texts.noClass}: {formatNumber(count)}
          </List.Item>
        ))}
      </List>
      {preview.warnings.length > 0 && (
        <Alert color="yellow">
          {preview.warnings.map(({ code, message }) => (
            <Text key={code} size="sm">
              {message}
            </Text>
          ))}
        </Alert>
      )}
      {preview.refused_count > 0 && (
        <Alert color="red" title={texts.importRejected(preview.refused_count)}>
          {preview.refused.slice(0, maxListed).map(({ feature, message }) => (
            <Text key={feature} size="sm">
              {texts.importFeature(feature)}: {message}
            </Text>
          ))}
        </Alert>
      )}
    </>
  );
}
