import type { Case } from '@lamina/contract';
import { Button, Group, Select, Text, Title } from '@mantine/core';
import { IconPlus } from '@tabler/icons-react';
import { useState } from 'react';
import { removeCase, useCases } from '../../api/cases.ts';
import { messageOf } from '../../api/client.ts';
import { useDatasets } from '../../api/datasets.ts';
import { ConfirmDialog } from '../../components/ConfirmDialog.tsx';
import { EmptyState } from '../../components/EmptyState.tsx';
import { LoadFailed } from '../../components/LoadFailed.tsx';
import { Loading } from '../../components/Loading.tsx';
import { announce } from '../../notifications/notify.ts';
import { CaseDialog } from './CaseDialog.tsx';
import classes from './CaseManagement.module.css';
import { ProposeCases } from './ProposeCases.tsx';
import { blockAndStainOf } from './propose-cases.ts';
import { texts } from './texts.ts';

type Dialog =
  | { readonly kind: 'new' | 'propose' }
  | { readonly kind: 'edit' | 'delete'; readonly target: Case };

/**
 * The screen "Administration › Cases". A case groups the slides of one specimen; administrators create cases one by one, or
 * several at once from file names.
 */
export function CaseManagement() {
  const datasets = useDatasets();
  const [chosenDataset, setChosenDataset] = useState<string | null>(null);
  const datasetNames = (datasets.data ?? []).map(({ name }) => name);
  const dataset = chosenDataset ?? datasetNames[0] ?? null;
  const [dialog, setDialog] = useState<Dialog | null>(null);
  const close = () => setDialog(null);
  return (
    <>
      <Title order={1} mb="xs">
        {texts.heading}
      </Title>
      <Text c="dimmed" mb="lg">
        {texts.hint}
      </Text>
      <Group align="flex-end" mb="lg">
        <Select
          label={texts.dataset}
          data={datasetNames}
          value={dataset}
          allowDeselect={false}
          onChange={setChosenDataset}
        />
        <Button
          leftSection={<IconPlus size={18} aria-hidden />}
          disabled={dataset === null}
          onClick={() => setDialog({ kind: 'new' })}
        >
          {texts.newCase}
        </Button>
        <Button variant="default" disabled={dataset === null} onClick={() => setDialog({ kind: 'propose' })}>
          {texts.propose}
        </Button>
      </Group>
      {datasets.isLoadingError && (
        <LoadFailed
          message={messageOf(datasets.error, texts.datasetsFailed)}
          onRetry={() => void datasets.refetch()}
        />
      )}
      {dataset !== null && <CaseList dataset={dataset} onOpenDialog={setDialog} />}
      {dataset !== null && dialog?.kind === 'new' && (
        <CaseDialog dataset={dataset} existingCase={null} onClose={close} />
      )}
      {dialog?.kind === 'edit' && (
        <CaseDialog dataset={dialog.target.dataset} existingCase={dialog.target} onClose={close} />
      )}
      {dataset !== null && dialog?.kind === 'propose' && <ProposeCases dataset={dataset} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={texts.deleteHeading}
          confirmLabel={texts.delete}
          isDestructive
          onConfirm={async () => {
            announce(await removeCase(dialog.target.id));
            close();
          }}
          onClose={close}
        >
          <Text>{texts.deleteText(dialog.target.name)}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}

interface CaseListProps {
  readonly dataset: string;
  readonly onOpenDialog: (dialog: Dialog) => void;
}

function CaseList({ dataset, onOpenDialog }: CaseListProps) {
  const cases = useCases({ dataset });
  if (cases.isPending) return <Loading label={texts.loading} />;
  if (cases.isLoadingError) {
    return (
      <LoadFailed message={messageOf(cases.error, texts.loadFailed)} onRetry={() => void cases.refetch()} />
    );
  }
  if (cases.data.length === 0) return <EmptyState title={texts.noCases} hint={texts.noCasesHint} />;
  return (
    <ul className={classes.cards}>
      {cases.data.map((slideCase) => (
        <li key={slideCase.id} className={classes.card}>
          <div className={classes.text}>
            <Title order={2} size="h4">
              {slideCase.name}
            </Title>
            <Text size="sm" c="dimmed">
              {[
                texts.slideCount(slideCase.slides.length),
                slideCase.slides.map(blockAndStainOf).filter(Boolean).join(', '),
              ]
                .filter(Boolean)
                .join(' · ')}
            </Text>
            {slideCase.description !== null && <Text size="sm">{slideCase.description}</Text>}
          </div>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-label={texts.editOf(slideCase.name)}
              onClick={() => onOpenDialog({ kind: 'edit', target: slideCase })}
            >
              {texts.edit}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="eosin" // the theme's rose, named after the stain
              aria-label={texts.deleteOf(slideCase.name)}
              onClick={() => onOpenDialog({ kind: 'delete', target: slideCase })}
            >
              {texts.delete}
            </Button>
          </Group>
        </li>
      ))}
    </ul>
  );
}
