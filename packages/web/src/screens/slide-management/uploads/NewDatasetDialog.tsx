import type { DatasetAccess } from '@lamina/contract';
import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { setDatasetAccess } from '../../../api/datasets.ts';
import { ConfirmDialog } from '../../../components/ConfirmDialog.tsx';
import { announce } from '../../../notifications/notify.ts';
import { texts } from './texts.ts';

interface NewDatasetDialogProps {
  /** Of a dataset that does not exist yet. */
  readonly name: string;
  /** The dataset may be uploaded to: it is restricted by now, or the person wants it to be open. */
  readonly onDecided: () => void;
  readonly onClose: () => void;
}

const choices: readonly DatasetAccess[] = ['restricted', 'open'];

/** A dataset that an upload creates is open to all members unless it is restricted before: the person chooses. */
export function NewDatasetDialog({ name, onDecided, onClose }: NewDatasetDialogProps) {
  const [access, setAccess] = useState<DatasetAccess | null>(null);

  async function decide() {
    if (access === 'restricted') {
      const result = await setDatasetAccess(name, access, false);
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
          {choices.map((each) => (
            <Radio
              key={each}
              value={each}
              label={texts.newDatasetAccess[each]}
              description={texts.newDatasetAccessHint[each]}
            />
          ))}
        </Stack>
      </Radio.Group>
    </ConfirmDialog>
  );
}
