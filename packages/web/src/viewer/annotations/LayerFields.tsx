import { type AnnotationLayer, LayerEditing, LayerVisibility } from '@lamina/contract';
import { ActionIcon, Alert, Button, Group, List, NativeSelect, Text } from '@mantine/core';
import { IconEye, IconEyeOff, IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import {
  createLayer,
  deleteLayer,
  type LayerEdit,
  restoreLayer,
  updateLayer,
} from '../../api/annotations.ts';
import { messageOf } from '../../api/client.ts';
import classes from './Annotations.module.css';
import { LayerMenu } from './LayerMenu.tsx';
import { isNewLayer } from './pending-change.ts';
import { texts } from './texts.ts';
import { type SlideAnnotations, useStoreVersion } from './use-annotations.ts';

interface LayerFieldsProps {
  readonly slideAnnotations: SlideAnnotations;
  /** Whether the user may draw on any layer at all. */
  readonly mayDraw: boolean;
  /** Whether the user, as an administrator, has all rights to the layers of other users. */
  readonly mayManageAllLayers: boolean;
  /** Whether files may have coordinates from the scanned area of the slide: QuPath shows only this area of a MIRAX slide. */
  readonly hasScannedArea: boolean;
  /** Loads the layers again, and the annotations that failed to load. */
  readonly onReload: () => void;
}

/**
 * Fields to choose the active layer, which receives new annotations, and to change who may see and edit it. The
 * visibility `members` means everyone who may view the slide.
 */
export function LayerFields({
  slideAnnotations,
  mayDraw,
  mayManageAllLayers,
  hasScannedArea,
  onReload,
}: LayerFieldsProps) {
  const { store } = slideAnnotations;
  useStoreVersion(store); // renders this component again after each change of the annotations
  const [failure, setFailure] = useState<string | null>(null); // error message
  /** The layer that the user has just deleted and can restore; null if there is none. */
  const [deletedLayer, setDeletedLayer] = useState<AnnotationLayer | null>(null);
  /** What the format of the last export could not store; empty when nothing was lost. */
  const [exportWarnings, setExportWarnings] = useState<readonly string[]>([]);
  const { layers, activeLayerId } = store;
  /** Undefined while the active layer does not exist yet: it is created when its first annotation is saved. */
  const activeLayer = layers.find(({ id }) => id === activeLayerId);
  const isHidden = store.isLayerHidden(activeLayerId);
  const Icon = isHidden ? IconEyeOff : IconEye;
  const name = activeLayer?.name ?? texts.defaultLayerName;

  const showFailure = (error: unknown, fallbackText: string) => setFailure(messageOf(error, fallbackText));
  const edit = (layer: AnnotationLayer, change: LayerEdit) => {
    setFailure(null);
    updateLayer(store.imageId, layer.id, change).then(
      (changed) => store.updateLayer(changed),
      (error: unknown) => {
        showFailure(error, texts.layerChangeFailed);
        onReload(); // the fields then show the values of the server again
      },
    );
  };
  const remove = (layer: AnnotationLayer) => {
    setFailure(null);
    deleteLayer(layer.id).then(
      () => {
        setDeletedLayer(layer);
        store.removeLayer(layer.id);
      },
      (error: unknown) => showFailure(error, texts.layerChangeFailed),
    );
  };
  const restore = (layer: AnnotationLayer) => {
    setDeletedLayer(null);
    restoreLayer(layer.id).then(onReload, (error: unknown) => showFailure(error, texts.layerChangeFailed));
  };
  const addLayer = () => {
    setFailure(null);
    createLayer(store.imageId, `${texts.defaultLayerName} ${layers.length + 1}`).then(
      (layer) => store.addLayer(layer),
      (error: unknown) => showFailure(error, texts.layerChangeFailed),
    );
  };

  return (
    <>
      {store.failedLayers.size > 0 && (
        <Alert color="red" p="xs">
          <Group justify="space-between">
            {texts.layerFailed}
            <Button size="compact-xs" variant="default" onClick={onReload}>
              {texts.retry}
            </Button>
          </Group>
        </Alert>
      )}
      <Group gap="xs" wrap="nowrap">
        <NativeSelect
          size="xs"
          flex={1}
          aria-label={texts.layer}
          value={activeLayerId}
          onChange={(event) => store.chooseLayer(event.currentTarget.value)}
          data={[
            ...(isNewLayer(activeLayerId) ? [{ value: activeLayerId, label: name }] : []),
            ...layers.map((layer) => ({ value: layer.id, label: labelOf(layer) })),
          ]}
        />
        <ActionIcon
          variant="default"
          size="md"
          aria-label={isHidden ? texts.show(name) : texts.hide(name)}
          onClick={() => store.toggleLayer(activeLayerId)}
        >
          <Icon size={16} aria-hidden />
        </ActionIcon>
        {mayDraw && (
          <ActionIcon variant="default" size="md" aria-label={texts.newLayer} onClick={addLayer}>
            <IconPlus size={16} aria-hidden />
          </ActionIcon>
        )}
        <LayerMenu
          slideAnnotations={slideAnnotations}
          mayDraw={mayDraw}
          mayManageAllLayers={mayManageAllLayers}
          hasScannedArea={hasScannedArea}
          onExported={setExportWarnings}
          activeLayer={activeLayer ?? null}
          onRename={(newName) => activeLayer !== undefined && edit(activeLayer, { name: newName })}
          onLock={(locked) => activeLayer !== undefined && edit(activeLayer, { locked })}
          onDelete={() => activeLayer !== undefined && remove(activeLayer)}
          onFailed={showFailure}
          onReload={onReload}
        />
      </Group>
      {deletedLayer !== null && (
        <Alert p="xs">
          <Group justify="space-between">
            {texts.layerDeleted(deletedLayer.name)}
            <Button size="compact-xs" variant="default" onClick={() => restore(deletedLayer)}>
              {texts.undoDelete}
            </Button>
          </Group>
        </Alert>
      )}
      {exportWarnings.length > 0 && (
        <Alert
          className={classes.losses ?? ''}
          color="yellow"
          p="xs"
          withCloseButton
          closeButtonLabel={texts.close}
          onClose={() => setExportWarnings([])}
        >
          <Text size="xs">{texts.exportIncomplete}</Text>
          <List size="xs">
            {exportWarnings.map((warning) => (
              <List.Item key={warning}>{warning}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      {activeLayer?.rights.manage && (
        <Group gap="xs" wrap="nowrap">
          <NativeSelect
            size="xs"
            flex={1}
            aria-label={texts.share}
            disabled={activeLayer.locked} // the server changes a locked layer only after it is unlocked
            value={activeLayer.visibility}
            onChange={(event) =>
              edit(activeLayer, { visibility: LayerVisibility.parse(event.currentTarget.value) })
            }
            data={LayerVisibility.options.map((value) => ({ value, label: texts.visibility[value] }))}
          />
          {activeLayer.visibility === 'members' && (
            <NativeSelect
              size="xs"
              flex={1}
              aria-label={texts.editing}
              disabled={activeLayer.locked}
              value={activeLayer.editing}
              onChange={(event) =>
                edit(activeLayer, { editing: LayerEditing.parse(event.currentTarget.value) })
              }
              data={LayerEditing.options.map((value) => ({ value, label: texts.editors[value] }))}
            />
          )}
        </Group>
      )}
      {failure !== null && (
        <Alert color="red" p="xs">
          {failure}
        </Alert>
      )}
    </>
  );
}

/** Returns a label such as `Nuclei · Ada Lovelace (locked)`. */
function labelOf({ name, owner_name, locked }: AnnotationLayer): string {
  const nameAndOwner = owner_name === null ? name : `${name} · ${owner_name}`;
  return locked ? `${nameAndOwner} (${texts.locked})` : nameAndOwner;
}
