import { nameKey } from '@lamina/contract';
import { Alert, Autocomplete, Button, Group, Progress, Text } from '@mantine/core';
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
import { type ChosenFile, filesOfDrop, filesOfInput } from './chosen-files.ts';
import { type FileGroup, groupFiles, type RefusedFile } from './group-uploads.ts';
import { NewDatasetDialog } from './NewDatasetDialog.tsx';
import { refusalSentence, texts } from './texts.ts';
import { UploadItem } from './UploadItem.tsx';
import classes from './UploadPanel.module.css';
import { linesOf } from './upload-line.ts';
import { enqueue, keepFor, pause, resume, useSendings } from './upload-queue.ts';

const refusedShown = 10;

/** Sends slides from this computer: chosen or dropped, files or folders; and what became of those that were sent. */
export function UploadPanel() {
  const [dataset, setDataset] = useState('');
  const [datasetError, setDatasetError] = useState<string | null>(null);
  /** Chosen before it was known which dataset they are for. */
  const [pending, setPending] = useState<readonly FileGroup[]>([]);
  const [refused, setRefused] = useState<readonly RefusedFile[]>([]);
  const [dropFailed, setDropFailed] = useState(false);
  const [isOver, setOver] = useState(false);
  const datasetField = useRef<HTMLInputElement>(null);
  const filesInput = useRef<HTMLInputElement>(null);
  const folderInput = useRef<HTMLInputElement>(null);
  /** A dataset that does not exist yet, while the person is asked who may see it. */
  const [newDataset, setNewDataset] = useState<string | null>(null);
  /** New datasets that the person has decided about; they are in no list before their first slide has been read. */
  const [decided, setDecided] = useState<ReadonlySet<string>>(new Set());
  const datasets = useDatasets();
  const sendings = useSendings();
  const awaited = sendings.flatMap(({ phase, uploadId }) => (phase === 'sent' ? (uploadId ?? []) : []));
  const known = useUploads(new Set(awaited));
  const uploads = known.data?.uploads ?? [];
  const lines = linesOf(sendings, uploads, Date.now());

  const arrived = uploads.flatMap(({ images }) => images.map(({ id, status }) => `${id} ${status}`)).join();
  useEffect(() => {
    if (arrived !== '') void invalidateSlides();
  }, [arrived]);

  const uid = useAuth().user?.uid ?? null;
  useEffect(() => {
    if (uid !== null) keepFor(uid);
  }, [uid]);

  /** Returns the dataset of an unfinished upload of the same files, which resumes there; null when there is none. */
  function unfinishedDatasetOf(group: FileGroup): string | null {
    const before = uploads.find(
      ({ state, path, is_folder, file_count, size_bytes }) =>
        state === 'open' &&
        path === group.path &&
        is_folder === group.isFolder &&
        file_count === group.files.length &&
        size_bytes === group.sizeBytes,
    );
    return before?.dataset ?? null;
  }

  function take(chosen: readonly ChosenFile[]): void {
    const grouping = groupFiles(chosen);
    setRefused(grouping.refused);
    void begin([...pending, ...grouping.groups]);
  }

  /** @param decidedNow a new dataset that the person has just decided about */
  async function begin(groups: readonly FileGroup[], decidedNow: string | null = null): Promise<void> {
    const typed = dataset.trim();
    const placed = groups.map((group) => {
      const unfinished = unfinishedDatasetOf(group);
      return { group, into: unfinished ?? typed, isNew: unfinished === null };
    });
    const fault = placed.some(({ into }) => into === '')
      ? texts.datasetMissing
      : placed.some(({ into }) => into.includes('/'))
        ? texts.datasetSlash
        : null;
    setDatasetError(fault);
    setPending(fault === null ? [] : groups);
    if (fault !== null) {
      datasetField.current?.focus();
      return;
    }
    if (typed !== decidedNow && !decided.has(typed) && placed.some(({ isNew }) => isNew)) {
      setPending(groups);
      const known = datasets.data ?? (await datasets.refetch()).data;
      if (known === undefined) {
        setDatasetError(texts.datasetsFailed);
        return;
      }
      // In any spelling: the server takes "böbrek" for the dataset "Böbrek".
      if (!known.some(({ name }) => nameKey(name) === nameKey(typed))) {
        setNewDataset(typed);
        return;
      }
      setPending([]);
    }
    for (const { group, into } of placed) enqueue(group, into);
  }

  async function takeDropped(event: DragEvent): Promise<void> {
    event.preventDefault();
    setOver(false);
    setDropFailed(false);
    try {
      take(await filesOfDrop(event.dataTransfer));
    } catch {
      setDropFailed(true); // what it is that cannot be read, browsers do not say
    }
  }

  function takeChosen(input: HTMLInputElement): void {
    if (input.files !== null) take(filesOfInput(input.files));
    input.value = ''; // the same files can be chosen again
  }

  const counted = sendings.filter(({ phase }) => phase !== 'sent');
  const all = counted.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
  const sent = counted.reduce((sum, { sentBytes }) => sum + sentBytes, 0);
  const running = counted.filter(({ phase }) => phase === 'sending' || phase === 'waiting');
  const resting = counted.filter(({ phase }) => phase === 'paused' || phase === 'offline');

  return (
    <Panel title={texts.heading}>
      <div className={classes.parts}>
        <Text c="dimmed">{texts.hint}</Text>
        <Autocomplete
          className={classes.dataset ?? ''}
          ref={datasetField}
          size="md"
          label={texts.dataset}
          description={texts.datasetHint}
          error={datasetError}
          inputWrapperOrder={['label', 'description', 'error', 'input']} // below it, the list would cover the error
          data={(datasets.data ?? []).map(({ name }) => name)}
          limit={50}
          maxLength={200}
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
              setDecided(new Set([...decided, newDataset]));
              setNewDataset(null);
              void begin(pending, newDataset);
            }}
          />
        )}
        {pending.length > 0 && newDataset === null && (
          <Group gap="sm">
            <Text size="sm">{texts.pending(pending.length)}</Text>
            <Button size="sm" onClick={() => void begin(pending)}>
              {texts.start}
            </Button>
            <Button size="sm" variant="default" onClick={() => setPending([])}>
              {texts.cancel}
            </Button>
          </Group>
        )}
        {/* biome-ignore lint/a11y/noStaticElementInteractions: dropping is one more way; the buttons are the others */}
        <div
          className={classes.drop}
          data-over={isOver || undefined}
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => void takeDropped(event)}
        >
          <Text fw={600}>{isOver ? texts.dropNow : texts.drop}</Text>
          <Text size="sm" c="dimmed">
            {texts.dropHint} {known.data && texts.largest(formatBytes(known.data.max_bytes))}
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
            onChange={(event) => takeChosen(event.currentTarget)}
          />
          <input
            ref={folderInput}
            className={classes.input}
            type="file"
            aria-label={texts.chooseFolder}
            {...{ webkitdirectory: '' }}
            onChange={(event) => takeChosen(event.currentTarget)}
          />
        </div>
        {known.isError && (
          <LoadFailed
            message={messageOf(known.error, texts.loadFailed)}
            onRetry={() => void known.refetch()}
          />
        )}
        {dropFailed && <Alert color="eosin" variant="outline" title={texts.dropUnreadable} />}
        {refused.length > 0 && (
          <Alert color="eosin" variant="outline" title={texts.refusedHeading}>
            <ul className={classes.refused}>
              {refused.slice(0, refusedShown).map(({ path, reason }) => (
                <li key={path}>
                  <strong>{path}</strong>: {refusalSentence(reason)}
                </li>
              ))}
              {refused.length > refusedShown && <li>{texts.refusedMore(refused.length - refusedShown)}</li>}
            </ul>
            <Button size="xs" variant="default" onClick={() => setRefused([])}>
              {texts.dismiss}
            </Button>
          </Alert>
        )}
        {counted.length > 1 && (
          <section aria-label={texts.overall}>
            <Group justify="space-between" gap="sm" mb={6}>
              <Text size="sm">{texts.overallOf(formatBytes(sent), formatBytes(all))}</Text>
              <Group gap="xs">
                {running.length > 0 && (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => {
                      for (const { key } of running.toReversed()) pause(key);
                    }}
                  >
                    {texts.pauseAll}
                  </Button>
                )}
                {resting.length > 0 && (
                  <Button
                    size="xs"
                    variant="default"
                    onClick={() => {
                      for (const { key } of resting) resume(key);
                    }}
                  >
                    {texts.resumeAll}
                  </Button>
                )}
              </Group>
            </Group>
            <Progress.Root size="lg">
              <Progress.Section value={all === 0 ? 0 : (sent / all) * 100} aria-label={texts.overall} />
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
