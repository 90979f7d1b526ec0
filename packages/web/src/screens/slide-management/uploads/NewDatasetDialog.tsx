import type { DatasetAccess } from '@lamina/contract';
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { setDatasetAccess } from '../../../api/datasets.ts';
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx';
import { announce } from '../../../notifications/notify.ts';
import { texts } from './texts.ts';

interface NewDatasetDialogProps {
  /** Name of a dataset that does not exist yet. */
  readonly name: string;
  /** Called when the upload may start: the user has left the dataset open, or it is restricted now. */
  readonly onDecided: () => void;
  readonly onClose: () => void;
}

const accessOptions: readonly DatasetAccess[] = ['restricted', 'open'];

/**
 * Dialog that asks who may see a dataset that an upload is about to create. By default, a new dataset is open to all members (approved
 * users). When the user decides to restrict it, the dialog does so before the upload starts: `setDatasetAccess` also accepts the name of
 * a dataset without slides.
 */
export function NewDatasetDialog({ name, onDecided, onClose }: NewDatasetDialogProps) {
  /** Null until the user has chosen. */
  const [access, setAccess] = useState<DatasetAccess | null>(null);

  async function decide() {
    if (access === 'restricted') {
      const isListed = false; // members without access do not see the name of the dataset
      const result = await setDatasetAccess(name, access, { isListed });
      if (!result.success) {
        announce(result);
        return;
      }
    }
    onDecided();
  }

  return (
    <ConfirmDialog
      title={texts.newDatasetTitle}
      confirmLabel={texts.start}
      isConfirmDisabled={access === null}
      onConfirm={decide}
      onClose={onClose}
    >
      <Text>{texts.newDatasetHint(name)}</Text>
      <Radio.Group
        label={texts.newDatasetQuestion}
        value={access}
        onChange={(value) => setAccess(value === 'open' ? 'open' : 'restricted')}
      >
        <Stack gap="xs" mt="xs">
          {accessOptions.map((option) => (
            <Radio
              key={option}
              value={option}
              label={texts.newDatasetAccess[option]}
              description={texts.newDatasetAccessHint[option]}
            />
          ))}
        </Stack>
      </Radio.Group>
    </ConfirmDialog>
  );
}
