import { nameKey } from '@lamina/contract';
import { Alert, Button, Group, Progress, Text } from '@mantine/core';
import { IconFolderUp, IconUpload } from '@tabler/icons-react';
import { type DragEvent, useEffect, useRef, useState } from 'react';
import { useAuth } from '../../../api/auth-state.ts';
import { messageOf } from '../../../api/client.ts';
import { useDatasets } from '../../../api/datasets.ts';
import { invalidateSlides } from '../../../api/slides.ts';
import { useUploads } from '../../../api/uploads.ts';
import { LoadFailed } from '../../../components/LoadFailed.tsx';
import { Panel } from '../../../components/Panel.tsx';
import { formatBytes } from '../../../formatting/format-bytes.ts';
import { DatasetField } from '../DatasetField.tsx';
import { type ChosenFile, filesOfDrop, filesOfInput } from './chosen-files.ts';
import { type FileGroup, groupFiles, type RefusedFile } from './group-uploads.ts';
import { NewDatasetDialog } from './NewDatasetDialog.tsx';
import { refusalSentence, texts } from './texts.ts';
import { UploadItem } from './UploadItem.tsx';
import classes from './UploadPanel.module.css';
import { uploadLinesOf } from './upload-line.ts';
import { enqueue, pause, resume, setUploadOwner, useLocalUploads } from './upload-queue.ts';

const maxRefusedShown = 10;

/**
 * Uploads slides that the user chooses or drops as files or folders, and lists all uploads with their state. Files that the user
 * chooses before the dataset wait in `pendingGroups`. Before the first upload to a new dataset, a dialog asks who may see the dataset.
 */
export function UploadPanel() {
  const [dataset, setDataset] = useState('');
  const [datasetError, setDatasetError] = useState<string | null>(null);
  /** Chosen files that wait until the user has chosen a dataset. */
  const [pendingGroups, setPendingGroups] = useState<readonly FileGroup[]>([]);
  const [refusedFiles, setRefusedFiles] = useState<readonly RefusedFile[]>([]);
  const [hasDropFailed, setDropFailed] = useState(false);
  const [isDraggedOver, setDraggedOver] = useState(false);
  const datasetField = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  /** Name of a dataset that does not exist yet, while a dialog asks who may see it; null when no dialog is open. */
  const [newDataset, setNewDataset] = useState<string | null>(null);
  /** New datasets whose access the user has chosen. `useDatasets` lists them only after their first slide was read. */
  const [decidedDatasets, setDecidedDatasets] = useState<ReadonlySet<string>>(new Set());
  const datasets = useDatasets();
  const localUploads = useLocalUploads();
  // The server checks and reads these uploads now, so their state is requested repeatedly.
  const sentIds = localUploads.flatMap(({ phase, uploadId }) => (phase === 'sent' ? (uploadId ?? []) : []));
  const serverUploads = useUploads(new Set(sentIds));
  const uploads = serverUploads.data?.uploads ?? [];
  const lines = uploadLinesOf(localUploads, uploads, Date.now());

  // The list of slides is loaded again whenever an uploaded slide appears or changes its status.
  const imageStatuses = uploads
    .flatMap(({ images }) => images.map(({ id, status }) => `${id} ${status}`))
    .join();
  useEffect(() => {
    if (imageStatuses !== '') void invalidateSlides();
  }, [imageStatuses]);

  const uid = useAuth().user?.uid ?? null;
  // After another account has signed in, removes the uploads of the previous one from the queue.
  useEffect(() => {
    if (uid !== null) setUploadOwner(uid);
  }, [uid]);

  /** Returns the dataset where an unfinished upload of the same files will resume; null when there is no such upload. */
  function unfinishedDatasetOf(group: FileGroup): string | null {
    const unfinished = uploads.find(
      ({ state, path, is_folder, file_count, size_bytes }) =>
        state === 'open' &&
        path === group.path &&
        is_folder === group.isFolder &&
        file_count === group.files.length &&
        size_bytes === group.sizeBytes,
    );
    return unfinished?.dataset ?? null;
  }

  function addFiles(chosen: readonly ChosenFile[]): void {
    const grouping = groupFiles(chosen);
    setRefusedFiles(grouping.refused);
    void startUploads([...pendingGroups, ...grouping.groups]);
  }

  /**
   * Adds the groups to the upload queue, or keeps them pending and shows what is missing: a valid dataset name, or
   * the choice who may see a new dataset.
   *
   * @param justDecidedDataset new dataset whose access the user has just chosen
   */
  async function startUploads(
    groups: readonly FileGroup[],
    justDecidedDataset: string | null = null,
  ): Promise<void> {
    const typedDataset = dataset.trim();
    const uploadsToStart = groups.map((group) => {
      const unfinished = unfinishedDatasetOf(group);
      return { group, targetDataset: unfinished ?? typedDataset, isUnfinished: unfinished !== null };
    });
    const error = datasetErrorOf(uploadsToStart.map(({ targetDataset }) => targetDataset));
    setDatasetError(error);
    setPendingGroups(error === null ? [] : groups);
    if (error !== null) {
      datasetField.current?.focus();
      return;
    }

    const isDecided = typedDataset === justDecidedDataset || decidedDatasets.has(typedDataset);
    if (!isDecided && uploadsToStart.some(({ isUnfinished }) => !isUnfinished)) {
      setPendingGroups(groups); // until it is known that the dataset exists, or who may see the new one
      const existingDatasets = datasets.data ?? (await datasets.refetch()).data;
      if (existingDatasets === undefined) {
        setDatasetError(texts.datasetsFailed);
        return;
      }
      // Compare like the server, which regards "böbrek" and "Böbrek" as the same dataset.
      if (!existingDatasets.some(({ name }) => nameKey(name) === nameKey(typedDataset))) {
        setNewDataset(typedDataset);
        return;
      }
      setPendingGroups([]);
    }
    for (const { group, targetDataset } of uploadsToStart) enqueue(group, targetDataset);
  }

  async function addDroppedFiles(event: DragEvent): Promise<void> {
    event.preventDefault();
    setDraggedOver(false);
    setDropFailed(false);
    try {
      addFiles(await filesOfDrop(event.dataTransfer));
    } catch {
      setDropFailed(true); // browsers do not tell which file cannot be read
    }
  }

  function addChosenFiles(input: HTMLInputElement): void {
    if (input.files !== null) addFiles(filesOfInput(input.files));
    input.value = ''; // without it, choosing the same files again would be no change event
  }

  const unsentUploads = localUploads.filter(({ phase }) => phase !== 'sent');
  const totalBytes = unsentUploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const sentBytes = unsentUploads.reduce((sum, upload) => sum + upload.sentBytes, 0);
  const pausableUploads = unsentUploads.filter(({ phase }) => phase === 'sending' || phase === 'waiting');
  const resumableUploads = unsentUploads.filter(({ phase }) => phase === 'paused' || phase === 'offline');

  return (
    <Panel title={texts.heading}>
      <div className={classes.parts}>
        <Text c="dimmed">{texts.hint}</Text>
        <DatasetField
          className={classes.dataset ?? ''}
          ref={datasetField}
          description={texts.datasetHint}
          error={datasetError}
          inputWrapperOrder={['label', 'description', 'error', 'input']} // below it, the list would cover the error
          value={dataset}
          onChange={(value) => {
            setDataset(value);
            setDatasetError(null);
          }}
        />
        {newDataset !== null && (
          <NewDatasetDialog
            name={newDataset}
            onClose={() => setNewDataset(null)}
            onDecided={() => {
              setDecidedDatasets(new Set([...decidedDatasets, newDataset]));
              setNewDataset(null);
              void startUploads(pendingGroups, newDataset);
            }}
          />
        )}
        {pendingGroups.length > 0 && newDataset === null && (
          <Group gap="sm">
            <Text size="sm">{texts.pending(pendingGroups.length)}</Text>
            <Button size="sm" onClick={() => void startUploads(pendingGroups)}>
              {texts.start}
            </Button>
            <Button size="sm" variant="default" onClick={() => setPendingGroups([])}>
              {texts.cancel}
            </Button>
          </Group>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons below do the same without dropping */}
        <div
          className={classes.drop}
          data-over={isDraggedOver || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setDraggedOver(true);
          }}
          onDragLeave={() => setDraggedOver(false)}
          onDrop={(event) => void addDroppedFiles(event)}
        >
          <Text fw={600}>{isDraggedOver ? texts.dropNow : texts.drop}</Text>
          <Text size="sm" c="dimmed">
            {texts.dropHint} {serverUploads.data && texts.largest(formatBytes(serverUploads.data.max_bytes))}
          </Text>
          <Group justify="center" gap="sm">
            <Button
              leftSection={<IconUpload size={18} aria-hidden />}
              onClick={() => filesInput.current?.click()}
            >
              {texts.chooseFiles}
            </Button>
            <Button
              variant="default"
              leftSection={<IconFolderUp size={18} aria-hidden />}
              onClick={() => folderInput.current?.click()}
            >
              {texts.chooseFolder}
            </Button>
          </Group>
          <input
            ref={filesInput}
            className={classes.input}
            type="file"
            multiple
            aria-label={texts.chooseFiles}
            onChange={(event) => addChosenFiles(event.currentTarget)}
          />
          <input
            ref={folderInput}
            className={classes.input}
            type="file"
            aria-label={texts.chooseFolder}
            {...{ webkitdirectory: '' }} // chooses folders; spread, because React's types lack the attribute
            onChange={(event) => addChosenFiles(event.currentTarget)}
          />
        </div>
        {serverUploads.isError && (
          <LoadFailed
            message={messageOf(serverUploads.error, texts.loadFailed)}
            onRetry={() => void serverUploads.refetch()}
          />
        )}
        {hasDropFailed && <Alert color="eosin" variant="outline" title={texts.dropUnreadable} />}
        {refusedFiles.length > 0 && (
          <Alert color="eosin" variant="outline" title={texts.refusedHeading}>
            <ul className={classes.refused}>
              {refusedFiles.slice(0, maxRefusedShown).map(({ path, reason }) => (
                <li key={path}>
                  <strong>{path}</strong>: {refusalSentence(reason)}
                </li>
              ))}
              {refusedFiles.length > maxRefusedShown && (
                <li>{texts.refusedMore(refusedFiles.length - maxRefusedShown)}</li>
              )}
            </ul>
            <Button size="xs" variant="default" onClick={() => setRefusedFiles([])}>
              {texts.dismiss}
            </Button>
          </Alert>
        )}
        {unsentUploads.length > 1 && (
          <section aria-label={texts.overall}>
            <Group justify="space-between" gap="sm" mb={6}>
              <Text size="sm">{texts.overallOf(formatBytes(sentBytes), formatBytes(totalBytes))}</Text>
              <Group gap="xs">
                {pausableUploads.length > 0 && (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => {
                      // From the end: pausing an upload starts the next waiting one.
                      for (const { key } of pausableUploads.toReversed()) pause(key);
                    }}
                  >
                    {texts.pauseAll}
                  </Button>
                )}
                {resumableUploads.length > 0 && (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => {
                      for (const { key } of resumableUploads) resume(key);
                    }}
                  >
                    {texts.resumeAll}
                  </Button>
                )}
              </Group>
            </Group>
            <Progress.Root size="lg">
              <Progress.Section
                value={totalBytes === 0 ? 0 : (sentBytes / totalBytes) * 100}
                aria-label={texts.overall}
              />
            </Progress.Root>
          </section>
        )}
        {lines.length > 0 && (
          <ul className={classes.list} aria-label={texts.list}>
            {lines.map((line) => (
              <UploadItem key={line.key} line={line} />
            ))}
          </ul>
        )}
      </div>
    </Panel>
  );
}

/** Returns why uploads to these datasets cannot start; null when every name is valid. */
function datasetErrorOf(names: readonly string[]): string | null {
  if (names.includes('')) return texts.datasetMissing;
  return names.some((name) => name.includes('/')) ? texts.datasetSlash : null;
}
