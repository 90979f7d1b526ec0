import { catalogueFile, type ImportPlan } from '@lamina/contract';
import { Alert, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { IconAlertTriangle, IconDownload, IconUpload } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { toast } from 'react-toastify';
import { messageOf } from '../../api/client.ts';
import { applyCatalogueFile, checkCatalogueFile, downloadCatalogue } from '../../api/slides.ts';
import { saveFile } from '../../browser/save-file.ts';
import { Loading } from '../../components/Loading.tsx';
import { Panel } from '../../components/Panel.tsx';
import { announce } from '../../notifications/notify.ts';
import { ImportPreview } from './ImportPreview.tsx';
import { texts } from './texts.ts';

/** A catalogue file that the server has checked. */
interface CheckedFile {
  readonly file: File;
  /** What the file would change, as the server computed it. */
  readonly plan: ImportPlan;
  /** Whether an earlier preview of this file could not be applied, because the catalogue had changed since that preview. */
  readonly hasCatalogueChanged: boolean;
}

/**
 * The section of the slides screen that exports the catalogue as a CSV file and imports an edited one. The server checks the file and
 * computes a preview; the user then applies exactly the previewed changes.
 */
export function CatalogueFile() {
  const [checkedFile, setCheckedFile] = useState<CheckedFile | null>(null);
  /** Why the chosen file was not accepted; null if there is no failure. */
  const [failure, setFailure] = useState<string | null>(null);
  /** Set by `FileButton`: empties its file input. */
  const resetInput = useRef<() => void>(null);
  const download = useMutation({
    mutationFn: downloadCatalogue,
    onSuccess: (blob) => {
      saveFile(blob, texts.downloadName(new Date().toISOString().slice(0, 10))); // the date in UTC
      toast.success(texts.downloaded);
    },
    onError: (error) => toast.error(messageOf(error, texts.downloadFailed)),
  });
  const check = useMutation({
    mutationFn: ({ file }: Omit<CheckedFile, 'plan'>) => checkCatalogueFile(file),
    onSuccess: (plan, { file, hasCatalogueChanged }) => setCheckedFile({ file, plan, hasCatalogueChanged }),
    onError: (error) => setFailure(messageOf(error, texts.checkFailed)),
  });
  const apply = useMutation({
    // The id `plan.plan` stands for exactly the previewed changes.
    mutationFn: ({ file, plan }: CheckedFile) => applyCatalogueFile(file, plan.plan),
    onSuccess: (result, { file }) => {
      if (!result.success && result.error === 'import_changed') {
        check.mutate({ file, hasCatalogueChanged: true }); // the catalogue has changed since the preview
        return;
      }
      announce(result);
      if (result.success) setCheckedFile(null);
    },
  });

  function checkChosenFile(file: File | null) {
    resetInput.current?.(); // so that choosing the same file again, after editing it, triggers `onChange`
    if (file === null) return;
    setCheckedFile(null);
    setFailure(null);
    if (file.size > catalogueFile.maxBytes) setFailure(texts.tooLarge);
    else check.mutate({ file, hasCatalogueChanged: false });
  }

  return (
    <Panel title={texts.catalogueFile}>
      <Stack>
        <Text>{texts.fileHint}</Text>
        <Text size="sm" c="dimmed">
          {texts.fileColumns}
        </Text>
        <Group gap="xs">
          <Button
            size="sm"
            variant="default"
            leftSection={<IconDownload size={18} aria-hidden />}
            loading={download.isPending}
            onClick={() => download.mutate()}
          >
            {texts.download}
          </Button>
          <FileButton
            accept=".csv,.tsv,.txt,text/csv"
            resetRef={resetInput}
            inputProps={{ 'aria-label': texts.choose }}
            onChange={checkChosenFile}
          >
            {(props) => (
              <Button
                {...props}
                size="sm"
                leftSection={<IconUpload size={18} aria-hidden />}
                loading={check.isPending}
                disabled={apply.isPending}
              >
                {checkedFile === null ? texts.choose : texts.chooseAnother}
              </Button>
            )}
          </FileButton>
        </Group>
        {failure !== null && (
          <Alert color="eosin" variant="outline" icon={<IconAlertTriangle aria-hidden />} title={failure} />
        )}
        {check.isPending && checkedFile === null && <Loading label={texts.checking} />}
        {checkedFile !== null && (
          <ImportPreview
            fileName={checkedFile.file.name}
            plan={checkedFile.plan}
            hasCatalogueChanged={checkedFile.hasCatalogueChanged}
            isApplying={apply.isPending || check.isPending} // a check that runs now replaces this preview, which is outdated
            onApply={() => apply.mutate(checkedFile)}
          />
        )}
      </Stack>
    </Panel>
  );
}
