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

interface Looked {
  readonly file: File;
  readonly plan: ImportPlan;
  /** The catalogue has changed between the last look and applying it. */
  readonly isAnew: boolean;
}

/** The catalogue as a file: taken away, changed in a spreadsheet, looked at, and applied. */
export function CatalogueFile() {
  const [looked, setLooked] = useState<Looked | null>(null);
  const [failure, setFailure] = useState<string | null>(null);
  const resetInput = useRef<() => void>(null);
  const taken = useMutation({
    mutationFn: downloadCatalogue,
    onSuccess: (blob) => {
      saveFile(blob, texts.downloadName(new Date().toISOString().slice(0, 10)));
      toast.success(texts.downloaded);
    },
    onError: (error) => toast.error(messageOf(error, texts.downloadFailed)),
  });
  const look = useMutation({
    mutationFn: ({ file }: { readonly file: File; readonly isAnew: boolean }) => checkCatalogueFile(file),
    onSuccess: (plan, { file, isAnew }) => setLooked({ file, plan, isAnew }),
    onError: (error) => setFailure(messageOf(error, texts.checkFailed)),
  });
  const apply = useMutation({
    mutationFn: ({ file, plan }: Looked) => applyCatalogueFile(file, plan.plan),
    onSuccess: (result, { file }) => {
      if (!result.success && result.error === 'import_changed') {
        look.mutate({ file, isAnew: true });
        return;
      }
      announce(result);
      if (result.success) setLooked(null);
    },
  });

  function choose(file: File | null) {
    resetInput.current?.(); // the same file, corrected, can be chosen again
    if (file === null) return;
    setLooked(null);
    setFailure(null);
    if (file.size > catalogueFile.maxBytes) setFailure(texts.tooLarge);
    else look.mutate({ file, isAnew: false });
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
            loading={taken.isPending}
            onClick={() => taken.mutate()}
          >
            {texts.download}
          </Button>
          <FileButton
            accept=".csv,.tsv,.txt,text/csv"
            resetRef={resetInput}
            inputProps={{ 'aria-label': texts.choose }}
            onChange={choose}
          >
            {(props) => (
              <Button
                {...props}
                size="sm"
                leftSection={<IconUpload size={18} aria-hidden />}
                loading={look.isPending}
                disabled={apply.isPending}
              >
                {looked === null ? texts.choose : texts.chooseAnother}
              </Button>
            )}
          </FileButton>
        </Group>
        {failure !== null && (
          <Alert color="eosin" variant="outline" icon={<IconAlertTriangle aria-hidden />} title={failure} />
        )}
        {look.isPending && looked === null && <Loading label={texts.checking} />}
        {looked !== null && (
          <ImportPreview
            name={looked.file.name}
            plan={looked.plan}
            isAnew={looked.isAnew}
            isApplying={apply.isPending || look.isPending}
            onApply={() => apply.mutate(looked)}
          />
        )}
      </Stack>
    </Panel>
  );
}
