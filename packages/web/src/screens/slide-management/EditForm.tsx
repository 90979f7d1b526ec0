import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { announce } from '../../announce.ts';
import { editSlide, type SlideEdit } from '../../api/slides.ts';
import { DatasetField } from './DatasetField.tsx';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

/** What the catalogue says of one slide. */
export function EditForm({ slides: [slide], onClose, onDone }: SlideFormProps) {
  const [name, setName] = useState(slide?.file_name ?? '');
  const [dataset, setDataset] = useState(slide?.dataset_name ?? '');
  const [organ, setOrgan] = useState(slide?.organ_type ?? '');
  const [isMissing, setMissing] = useState(false);
  const [isRunning, setRunning] = useState(false);
  if (slide === undefined) return null;

  async function submit(id: string, edit: SlideEdit) {
    setMissing(name.trim() === '');
    if (name.trim() === '') return;
    if (Object.keys(edit).length === 0) {
      onClose();
      return;
    }
    setRunning(true);
    const result = await editSlide(id, edit);
    setRunning(false);
    announce(result);
    if (result.success) onDone();
  }

  /** What is left as it is goes on following the files beside the slide. */
  const edit: SlideEdit = {
    ...(name.trim() !== slide.file_name && { file_name: name.trim() }),
    ...(dataset.trim() !== (slide.dataset_name ?? '') && { dataset_name: dataset.trim() }),
    ...(organ.trim() !== (slide.organ_type ?? '') && { organ_type: organ.trim() }),
  };
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        void submit(slide.id, edit);
      }}
      noValidate
    >
      <Stack>
        <TextInput
          label={texts.fileName}
          description={texts.fileNameHint}
          inputWrapperOrder={['label', 'input', 'description', 'error']}
          error={isMissing && texts.fileNameRequired}
          maxLength={255}
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <DatasetField value={dataset} onChange={setDataset} />
        <TextInput
          label={texts.organ}
          placeholder={texts.optional}
          maxLength={200}
          value={organ}
          onChange={(event) => setOrgan(event.currentTarget.value)}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={isRunning}>
            {texts.save}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
