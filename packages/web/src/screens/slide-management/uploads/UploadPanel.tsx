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
import { type FileGroup, groupFiles, type RejectedFile } from './group-uploads.ts';
import { NewDatasetDialog } from './NewDatasetDialog.tsx';
import { rejectionSentence, texts } from './texts.ts';
import { UploadList } from './UploadList.tsx';
import classes from './UploadPanel.module.css';
import { uploadListRowsOf } from './upload-list-row.ts';
import { enqueue, pause, resume, setUploadOwner, useLocalUploads } from './upload-queue.ts';

/** Number of rejected files that the panel lists by name; it states only the number of the others. */
const maxRejectedShown = 10;

/**
 * The section of the slides screen for uploads. The user chooses or drops slides as files or folders; the panel uploads them and lists
 * all uploads with their state. Before the first upload to a new dataset, a dialog asks who may see the dataset.
 */
export function UploadPanel() {
  const [dataset, setDataset] = useState('');
  const [datasetError, setDatasetError] = useState<string | null>(null);
  /** Chosen files, grouped into uploads, that wait until the user has entered a dataset or decided who may see it. */
  const [pendingGroups, setPendingGroups] = useState<readonly FileGroup[]>([]);
  /** The latest `pendingGroups` and `addFiles`, because both may change while the files of a drop are being read. */
  const latestPendingGroups = useRef<readonly FileGroup[]>([]);
  const latestAddFiles = useRef((_: readonly ChosenFile[]): void => {});
  const [rejectedFiles, setRejectedFiles] = useState<readonly RejectedFile[]>([]);
  const [hasDropFailed, setDropFailed] = useState(false);
  const [isDraggedOver, setDraggedOver] = useState(false);
  const datasetField = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  /** Name of the new dataset for which the dialog asks who may see it; null when the dialog is closed. */
  const [newDataset, setNewDataset] = useState<string | null>(null);
  /** New datasets for which the user has decided who may see them; `useDatasets` lists them only after the ingest of their first slide. */
  const [decidedDatasets, setDecidedDatasets] = useState<ReadonlySet<string>>(new Set());
  const datasets = useDatasets();
  const localUploads = useLocalUploads();
  // All files of these uploads have been sent. The server now checks and ingests them, so `useUploads` polls their state.
  const sentIds = localUploads.flatMap(({ phase, uploadId }) =>
    phase === 'sent' && uploadId !== null ? [uploadId] : [],
  );
  const serverUploads = useUploads(new Set(sentIds));
  const uploads = serverUploads.data?.uploads ?? [];
  const rows = uploadListRowsOf(localUploads, uploads, Date.now());

  // Reloads the list of slides whenever an uploaded slide appears or changes its status.
  const imageStatuses = uploads
    .flatMap(({ images }) => images.map(({ id, status }) => `${id} ${status}`))
    .join();
  useEffect(() => {
    if (imageStatuses !== '') void invalidateSlides();
  }, [imageStatuses]);

  const uid = useAuth().user?.uid ?? null;
  // When another account has signed in, this removes the uploads of the previous account from the queue.
  useEffect(() => {
    if (uid !== null) setUploadOwner(uid);
  }, [uid]);

  /**
   * Returns the dataset of the unfinished upload to resume (same path, file count and size); null if there is none. A dataset that the
   * user has typed is never replaced by another one, in which other people may see the slides.
   *
   * @param typedDataset empty when the user has typed none; compared by `nameKey`, which ignores differences such as letter case
   */
  function unfinishedDatasetOf(group: FileGroup, typedDataset: string): string | null {
    const unfinished = uploads.find(
      ({ state, dataset, path, is_folder, file_count, size_bytes }) =>
        state === 'open' &&
        (typedDataset === '' || nameKey(dataset) === nameKey(typedDataset)) &&
        path === group.path &&
        is_folder === group.isFolder &&
        file_count === group.files.length &&
        size_bytes === group.sizeBytes,
    );
    return unfinished?.dataset ?? null;
  }

  function addFiles(chosen: readonly ChosenFile[]): void {
    const grouping = groupFiles(chosen);
    setRejectedFiles(grouping.rejected);
    void startUploads([...latestPendingGroups.current, ...grouping.groups]);
  }
  useEffect(() => {
    latestAddFiles.current = addFiles;
  });

  function updatePendingGroups(groups: readonly FileGroup[]): void {
    latestPendingGroups.current = groups;
    setPendingGroups(groups);
  }

  /**
   * Adds the groups to the upload queue. When the dataset name is missing or invalid, or the user has not decided who may see a new
   * dataset, the groups stay pending and the panel asks for the missing information.
   *
   * @param justDecidedDataset new dataset for which the user has just decided; it is not in `decidedDatasets` before the next rendering
   */
  async function startUploads(
    groups: readonly FileGroup[],
    justDecidedDataset: string | null = null,
  ): Promise<void> {
    const typedDataset = dataset.trim();
    const uploadsToStart = groups.map((group) => {
      const unfinished = unfinishedDatasetOf(group, typedDataset);
      return { group, targetDataset: unfinished ?? typedDataset, isUnfinished: unfinished !== null };
    });
    const error = datasetErrorOf(uploadsToStart.map(({ targetDataset }) => targetDataset));
    setDatasetError(error);
    updatePendingGroups(error === null ? [] : groups);
    if (error !== null) {
      datasetField.current?.focus();
      return;
    }

    const isDecided = typedDataset === justDecidedDataset || decidedDatasets.has(typedDataset);
    const usesTypedDataset = uploadsToStart.some(({ isUnfinished }) => !isUnfinished);
    if (usesTypedDataset && !isDecided) {
      updatePendingGroups(groups); // until the datasets are loaded, and the user has decided who may see a new dataset
      const existingDatasets = datasets.data ?? (await datasets.refetch()).data;
      if (existingDatasets === undefined) {
        setDatasetError(texts.datasetsFailed);
        return;
      }
      // Compares names as the server does: "böbrek" and "Böbrek" name the same dataset.
      if (!existingDatasets.some(({ name }) => nameKey(name) === nameKey(typedDataset))) {
        setNewDataset(typedDataset);
        return;
      }
      updatePendingGroups([]);
    }
    // The result is ignored: false means that the same upload is waiting, paused or being sent. It stays unchanged.
    for (const { group, targetDataset } of uploadsToStart) enqueue(group, targetDataset);
  }

  async function addDroppedFiles(event: DragEvent): Promise<void> {
    event.preventDefault();
    setDraggedOver(false);
    setDropFailed(false);
    try {
      const files = await filesOfDrop(event.dataTransfer);
      latestAddFiles.current(files);
    } catch {
      setDropFailed(true); // browsers do not say which file they cannot read
    }
  }

  function addChosenFiles(input: HTMLInputElement): void {
    if (input.files !== null) addFiles(filesOfInput(input.files));
    input.value = ''; // so that choosing the same files again triggers a change event
  }

  const pendingFileCount = pendingGroups.reduce((count, { files }) => count + files.length, 0);
  const unsentUploads = localUploads.filter(({ phase }) => phase !== 'sent');
  const totalBytes = unsentUploads.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const sentBytes = unsentUploads.reduce((sum, upload) => sum + upload.sentBytes, 0);
  const pausableUploads = unsentUploads.filter(({ phase }) => phase === 'sending' || phase === 'waiting');
  const resumableUploads = unsentUploads.filter(({ phase }) => phase === 'paused' || phase === 'offline');

  return (
    <Panel title={texts.heading}>
      <div className={classes.sections}>
        <Text c="dimmed">{texts.hint}</Text>
        <DatasetField
          className={classes.dataset ?? ''}
          ref={datasetField}
          description={texts.datasetHint}
          error={datasetError}
          inputWrapperOrder={['label', 'description', 'error', 'input']} // the list of suggestions would cover an error below the input
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
            <Text size="sm">{texts.pending(pendingFileCount)}</Text>
            <Button size="sm" onClick={() => void startUploads(pendingGroups)}>
              {texts.start}
            </Button>
            <Button size="sm" variant="default" onClick={() => updatePendingGroups([])}>
              {texts.cancel}
            </Button>
          </Group>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: the buttons inside do the same without drag and drop */}
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
            {...{ webkitdirectory: '' }} // makes the input choose folders; React's types lack this attribute
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
        {rejectedFiles.length > 0 && (
          <Alert color="eosin" variant="outline" title={texts.rejectedHeading}>
            <ul className={classes.refused}>
              {rejectedFiles.slice(0, maxRejectedShown).map(({ path, reason }) => (
                <li key={path}>
                  <strong>{path}</strong>: {rejectionSentence(reason)}
                </li>
              ))}
              {rejectedFiles.length > maxRejectedShown && (
                <li>{texts.rejectedMore(rejectedFiles.length - maxRejectedShown)}</li>
              )}
            </ul>
            <Button size="xs" variant="default" onClick={() => setRejectedFiles([])}>
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
                      // Begins with the last upload, because pausing an upload starts the next waiting one.
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
        {rows.length > 0 && <UploadList rows={rows} />}
      </div>
    </Panel>
  );
}

/** Returns why uploads to these datasets cannot start; null when every name is valid. */
function datasetErrorOf(names: readonly string[]): string | null {
  if (names.includes('')) return texts.datasetMissing;
  return names.some((name) => name.includes('/')) ? texts.datasetSlash : null;
}
