import { Button, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { announce } from '../../announce.ts';
import { changeSlides } from '../../api/slides.ts';
import { DatasetField } from './DatasetField.tsx';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

export function MoveForm({ slides, onClose, onDone }: SlideFormProps) {
  const [dataset, setDataset] = useState('');
  const [isRunning, setRunning] = useState(false);

  async function submit() {
    setRunning(true);
    const ids = slides.map(({ id }) => id);
    const result = await changeSlides(ids, { dataset_name: dataset.trim() });
    setRunning(false);
    announce(result);
    if (result.success) onDone();
  }

  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit();
      }}
      noValidate
    >
      <Stack>
        <Text>{texts.moveHint(slides.length)}</Text>
        <DatasetField value={dataset} description={texts.moveNew} onChange={setDataset} />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={isRunning}>
            {texts.move}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
