import { Button, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { requestDatasetAccess } from '../../api/datasets.ts';
import { Dialog } from '../../components/Dialog.tsx';
import { texts } from './texts.ts';

interface RequestDatasetDialogProps {
  /** Name of the dataset. */
  readonly dataset: string;
  readonly onClose: () => void;
}

/** The dialog with which a user requests access to a restricted dataset and gives a reason. An administrator decides. */
export function RequestDatasetDialog({ dataset, onClose }: RequestDatasetDialogProps) {
  const [reason, setReason] = useState('');
  const [error, setError] = useState<string | null>(null);
  const [isSending, setSending] = useState(false);

  async function send() {
    const trimmedReason = reason.trim();
    if (trimmedReason === '') {
      setError(texts.reasonRequired);
      return;
    }
    setSending(true);
    const failure = await requestDatasetAccess(dataset, trimmedReason);
    setSending(false);
    setError(failure);
    if (failure === null) onClose();
  }

  return (
    <Dialog
      title={texts.requestAccess}
      languageBeforeChoice="en" // until the user chooses a language
      centered
      isRunning={isSending}
      onClose={onClose}
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
            maxLength={1000} // the limit of the API
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
    </Dialog>
  );
}
