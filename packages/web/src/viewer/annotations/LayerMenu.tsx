import type { AnnotationLayer } from '@lamina/contract';
import { ActionIcon, Menu } from '@mantine/core';
import { IconDotsVertical } from '@tabler/icons-react';
import { useRef, useState } from 'react';
import { type ExportFormat, exportFile } from '../../api/annotations.ts';
import { saveFile } from '../../browser/save-file.ts';
import { DeletedAnnotationsDialog } from './DeletedAnnotationsDialog.tsx';
import { DeletedLayersDialog } from './DeletedLayersDialog.tsx';
import { exportWarningSentences } from './export-warnings.ts';
import { ImportDialog } from './ImportDialog.tsx';
import { RenameDialog } from './RenameDialog.tsx';
import { texts } from './texts.ts';
import type { SlideAnnotations } from './use-annotations.ts';

/** GeoJSON of QuPath, plain GeoJSON, XML of ASAP and of Aperio ImageScope (all three are slide viewers), and measurements as CSV. */
const exportFormats: readonly ExportFormat[] = ['qupath', 'geojson', 'asap', 'aperio', 'csv'];
/** File name extensions of exported files. */
const extensions: Readonly<Record<ExportFormat, string>> = {
  qupath: 'geojson',
  geojson: 'geojson',
  asap: 'xml',
  aperio: 'xml',
  csv: 'csv',
};

interface LayerMenuProps {
  readonly slideAnnotations: SlideAnnotations;
  /** Whether the user may draw on any layer at all. */
  readonly mayDraw: boolean;
  /** Whether the user, as an administrator, has all rights to the layers of other users. */
  readonly mayManageAllLayers: boolean;
  /** Whether files may have coordinates from the scanned area of the slide: QuPath shows only this area of a MIRAX slide. */
  readonly hasScannedArea: boolean;
  /** The active layer; null while it does not exist yet: it is created when its first annotation is saved. */
  readonly activeLayer: AnnotationLayer | null;
  readonly onRename: (name: string) => void;
  readonly onLock: (isLocked: boolean) => void;
  readonly onDelete: () => void;
  /** Called after an export. @param warnings sentences about what the format cannot store; empty when nothing is lost */
  readonly onExported: (warnings: readonly string[]) => void;
  /** Shows the message of an error. @param fallbackText shown instead when the error has no message */
  readonly onFailed: (error: unknown, fallbackText: string) => void;
  /** Loads the layers again after a change on the server. */
  readonly onReload: () => void;
}

/** The menu with the actions for a whole layer: rename, lock, delete, restore (also single annotations), import and export. */
export function LayerMenu(props: LayerMenuProps) {
  const { slideAnnotations, activeLayer, mayDraw } = props;
  const { store } = slideAnnotations;
  const [dialog, setDialog] = useState<'rename' | 'deleted layers' | 'deleted annotations' | null>(null); // the open dialog
  /** The file that the user has chosen to import; null if there is none. */
  const [fileToImport, setFileToImport] = useState<File | null>(null);
  /** Whether the coordinates of exported files count from the scanned area of the slide. */
  const [isFromScannedArea, setFromScannedArea] = useState(false);
  const fileInput = useRef<HTMLInputElement>(null);
  const closeDialog = () => setDialog(null);
  const mayChangeAnnotations = mayDraw && store.canDrawOn(store.activeLayerId);

  const exportLayer = (layer: AnnotationLayer, format: ExportFormat) => {
    exportFile(layer.id, { format, offset: isFromScannedArea ? 'bounds' : 'none' }).then(
      ({ file, warnings }) => {
        saveFile(file, `${layer.name}.${extensions[format]}`);
        props.onExported(warnings === null ? [] : exportWarningSentences(warnings));
      },
      (error: unknown) => props.onFailed(error, texts.exportFailed),
    );
  };

  return (
    <>
      <Menu position="bottom-end" shadow="md" withinPortal>
        <Menu.Target>
          <ActionIcon variant="default" size="md" aria-label={texts.layerMenu}>
            <IconDotsVertical size={16} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown aria-label={texts.layerMenu}>
          {activeLayer?.rights.manage && !activeLayer.locked && (
            <Menu.Item onClick={() => setDialog('rename')}>{texts.rename}</Menu.Item>
          )}
          {/* The owner of a layer that an administrator has locked has the right `manage`, but not `lock`. */}
          {activeLayer?.rights.lock && (
            <Menu.Item onClick={() => props.onLock(!activeLayer.locked)}>
              {activeLayer.locked ? texts.unlockLayer : texts.lockLayer}
            </Menu.Item>
          )}
          {/* Administrators may also delete a locked layer. Its owner must unlock it first. */}
          {activeLayer?.rights.manage && (!activeLayer.locked || props.mayManageAllLayers) && (
            <Menu.Item onClick={props.onDelete}>{texts.deleteLayer}</Menu.Item>
          )}
          {mayDraw && (
            <Menu.Item onClick={() => setDialog('deleted layers')}>{texts.deletedLayers}</Menu.Item>
          )}
          {mayChangeAnnotations && activeLayer !== null && (
            <Menu.Item onClick={() => setDialog('deleted annotations')}>{texts.deletedAnnotations}</Menu.Item>
          )}
          {mayChangeAnnotations && (
            <>
              <Menu.Divider />
              <Menu.Item onClick={() => fileInput.current?.click()}>{texts.importFile}</Menu.Item>
            </>
          )}
          {activeLayer !== null && (
            <>
              <Menu.Divider />
              <Menu.Label>{texts.exportAs}</Menu.Label>
              {props.hasScannedArea && (
                <Menu.CheckboxItem checked={isFromScannedArea} onChange={setFromScannedArea}>
                  {texts.fromScannedArea}
                </Menu.CheckboxItem>
              )}
              {exportFormats.map((format) => (
                <Menu.Item key={format} onClick={() => exportLayer(activeLayer, format)}>
                  {texts.formats[format]}
                </Menu.Item>
              ))}
            </>
          )}
        </Menu.Dropdown>
      </Menu>
      <input
        ref={fileInput}
        type="file"
        hidden
        aria-label={texts.importFile}
        accept=".geojson,.json,.xml,.anot,.annotations,.gz" // .anot: annotations of the Digital Slide Archive
        onChange={(event) => {
          setFileToImport(event.currentTarget.files?.[0] ?? null);
          event.currentTarget.value = ''; // choosing the same file again then raises a new event
        }}
      />
      {fileToImport !== null && (
        <ImportDialog
          slideAnnotations={slideAnnotations}
          file={fileToImport}
          hasScannedArea={props.hasScannedArea}
          onClose={() => setFileToImport(null)}
          onImported={props.onReload}
        />
      )}
      {dialog === 'rename' && activeLayer !== null && (
        <RenameDialog name={activeLayer.name} onRename={props.onRename} onClose={closeDialog} />
      )}
      {dialog === 'deleted layers' && (
        <DeletedLayersDialog imageId={store.imageId} onClose={closeDialog} onRestored={props.onReload} />
      )}
      {dialog === 'deleted annotations' && activeLayer !== null && (
        <DeletedAnnotationsDialog
          layerId={activeLayer.id}
          onClose={closeDialog}
          onRestored={props.onReload}
        />
      )}
    </>
  );
}
