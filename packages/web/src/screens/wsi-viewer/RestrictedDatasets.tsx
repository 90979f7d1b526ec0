import type { RequestableDataset } from '@lamina/contract';
import { Button, Modal, Stack, Text, Textarea } from '@mantine/core';
import { IconLock } from '@tabler/icons-react';
import { useEffect, useRef, useState } from 'react';
import { askForDataset, useRequestableDatasets } from '../../api/datasets.ts';
import { useReturnFocus } from '../../components/use-return-focus.ts';
import { languageNow } from '../../language/language.ts';
import classes from './RestrictedDatasets.module.css';
import { SidebarSection } from './SidebarSection.tsx';
import { texts } from './texts.ts';

export const restrictedDatasetsId = 'requestable-datasets';

interface RestrictedDatasetsProps {
  /** Called when the person's access to a dataset has changed. */
  readonly onChanged: () => void;
  readonly isOpen: boolean;
  readonly onToggle: (isOpen: boolean) => void;
}

/** Restricted datasets that the person can request, below the catalogue. Nothing where there is none. */
export function RestrictedDatasets({ onChanged, isOpen, onToggle }: RestrictedDatasetsProps) {
  const { data } = useRequestableDatasets();
  const [asking, setAsking] = useState<string | null>(null);
  useOnChange(data?.map(({ name, granted }) => `${name} ${granted}`).join('\n'), onChanged);
  const closed = data?.filter((dataset) => !dataset.granted) ?? [];
  if (closed.length === 0) return null;

  return (
    <SidebarSection
      id={restrictedDatasetsId}
      title={texts.restrictedDatasets}
      count={closed.length}
      isOpen={isOpen}
      onToggle={onToggle}
    >
      <ul className={classes.list}>
        {closed.map(({ name, request }) => (
          <li key={name} className={classes.dataset}>
            <IconLock size={18} aria-hidden />
            <div className={classes.name}>
              <span>{name}</span>
              {request !== null && <span className={classes.state}>{stateOf(request)}</span>}
            </div>
            {request?.answer !== null && (
              <Button
                size="compact-sm"
                variant="default"
                aria-label={texts.requestAccessTo(name)}
                onClick={() => setAsking(name)}
              >
                {texts.requestAccess}
              </Button>
            )}
          </li>
        ))}
      </ul>
      {asking !== null && <RequestDialog dataset={asking} onClose={() => setAsking(null)} />}
    </SidebarSection>
  );
}

function stateOf({ answer, answer_reason }: NonNullable<RequestableDataset['request']>): string {
  if (answer === null) return texts.requested;
  if (answer === 'granted') return texts.accessEnded; // granted once, and taken back
  return answer_reason === null ? texts.declined : texts.declinedBecause(answer_reason);
}

/** Calls when the value changes, not for the first one; undefined is none. */
function useOnChange(value: string | undefined, onChange: () => void): void {
  const last = useRef<string | undefined>(undefined);
  useEffect(() => {
    if (value === undefined) return;
    if (last.current !== undefined && last.current !== value) onChange();
    last.current = value;
  }, [value, onChange]);
}

interface RequestDialogProps {
  readonly dataset: string;
  readonly onClose: () => void;
}

function RequestDialog({ dataset, onClose }: RequestDialogProps) {
  useReturnFocus();
  const [reason, setReason] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);

  async function send() {
    const said = reason.trim();
    if (said === '') {
      setError(texts.reasonRequired);
      return;
    }
    setSending(true);
    const failure = await askForDataset(dataset, said);
    setSending(false);
    setError(failure);
    if (failure === null) onClose();
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={texts.requestAccess}
      closeButtonProps={{ 'aria-label': texts.close }}
      centered
      withinPortal={false}
      lang={languageNow('en')}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void send();
        }}
        noValidate
      >
        <Stack>
          <Text>{texts.requestHint(dataset)}</Text>
          <Textarea
            label={texts.reason}
            rows={3}
            resize="vertical"
            maxLength={1000}
            value={reason}
            error={error}
            onChange={(event) => setReason(event.currentTarget.value)}
            data-autofocus
          />
          <Button type="submit" loading={isSending}>
            {texts.sendRequest}
          </Button>
        </Stack>
      </form>
    </Modal>
  );
}
