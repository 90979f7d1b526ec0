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
import { texts } from './texts.ts';

type Dialog = { readonly kind: 'new' | 'propose' } | { readonly kind: 'edit' | 'delete'; readonly of: Case };

/** Administration › cases: the slides of one specimen, made one by one or proposed from file names. */
export function CaseManagement() {
  const datasets = useDatasets();
  const [chosen, setChosen] = useState<string | null>(null);
  const names = (datasets.data ?? []).map(({ name }) => name);
  const dataset = chosen ?? names[0] ?? null;
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
          data={names}
          value={dataset}
          allowDeselect={false}
          onChange={setChosen}
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
      {dataset !== null && <CaseList dataset={dataset} onDialog={setDialog} />}
      {dataset !== null && dialog?.kind === 'new' && (
        <CaseDialog dataset={dataset} before={null} onClose={close} />
      )}
      {dialog?.kind === 'edit' && (
        <CaseDialog dataset={dialog.of.dataset} before={dialog.of} onClose={close} />
      )}
      {dataset !== null && dialog?.kind === 'propose' && <ProposeCases dataset={dataset} onClose={close} />}
      {dialog?.kind === 'delete' && (
        <ConfirmDialog
          title={texts.deleteHeading}
          confirmLabel={texts.delete}
          isGrave
          onConfirm={async () => {
            announce(await removeCase(dialog.of.id));
            close();
          }}
          onClose={close}
        >
          <Text>{texts.deleteText(dialog.of.name)}</Text>
        </ConfirmDialog>
      )}
    </>
  );
}

interface CaseListProps {
  readonly dataset: string;
  readonly onDialog: (dialog: Dialog) => void;
}

function CaseList({ dataset, onDialog }: CaseListProps) {
  const cases = useCases({ dataset });
  if (cases.isPending) return <Loading label={texts.loading} />;
  if (cases.isError) {
    return (
      <LoadFailed message={messageOf(cases.error, texts.loadFailed)} onRetry={() => void cases.refetch()} />
    );
  }
  if (cases.data.length === 0) return <EmptyState title={texts.none} hint={texts.noneHint} />;
  return (
    <ul className={classes.cards}>
      {cases.data.map((each) => (
        <li key={each.id} className={classes.card}>
          <div className={classes.text}>
            <Title order={2} size="h4">
              {each.name}
            </Title>
            <Text size="sm" c="dimmed">
              {[
                texts.slideCount(each.slides.length),
                each.slides
                  .map(({ block, stain }) => [block, stain].filter(Boolean).join(' '))
                  .filter(Boolean)
                  .join(', '),
              ]
                .filter(Boolean)
                .join(' · ')}
            </Text>
            {each.description !== null && <Text size="sm">{each.description}</Text>}
          </div>
          <Group gap="xs">
            <Button
              size="xs"
              variant="default"
              aria-label={texts.editOf(each.name)}
              onClick={() => onDialog({ kind: 'edit', of: each })}
            >
              {texts.edit}
            </Button>
            <Button
              size="xs"
              variant="subtle"
              color="eosin"
              aria-label={texts.deleteOf(each.name)}
              onClick={() => onDialog({ kind: 'delete', of: each })}
            >
              {texts.delete}
            </Button>
          </Group>
        </li>
      ))}
    </ul>
  );
}
