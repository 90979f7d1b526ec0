import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { editSlide, type SlideEdit } from '../../api/slides.ts';
import { announce } from '../../notifications/notify.ts';
import { calibrationOf, enteredText } from './calibration.ts';
import { DatasetField } from './DatasetField.tsx';
import type { SlideFormProps } from './dialog-request.ts';
import { ScaleFields } from './ScaleFields.tsx';
import { texts } from './texts.ts';

/**
 * Form for the catalogue entry of one slide, the first of `slides`: its name, dataset, organ, and scale (`mpp`:
 * micrometres per pixel; `power`: magnification of the objective).
 */
export function EditForm({ slides: [slide], isRunning, setRunning, onClose, onDone }: SlideFormProps) {
  const [name, setName] = useState(slide?.file_name ?? '');
  const [dataset, setDataset] = useState(slide?.dataset_name ?? '');
  const [organ, setOrgan] = useState(slide?.organ_type ?? '');
  const [mpp, setMpp] = useState(() => enteredText(slide, 'mpp'));
  const [power, setPower] = useState(() => enteredText(slide, 'power'));
  const [isNameMissing, setNameMissing] = useState(false);
  const [isScaleInvalid, setScaleInvalid] = useState(false);
  if (slide === undefined) return null;
  /** The entered scale: null restores the scale of the slide file, undefined means no change, 'invalid' prevents saving. */
  const calibration = calibrationOf(slide, mpp, power);

  async function submit(imageId: string, edit: SlideEdit) {
    setNameMissing(name.trim() === '');
    setScaleInvalid(calibration === 'invalid');
    if (name.trim() === '' || calibration === 'invalid') return;
    if (Object.keys(edit).length === 0) {
      onClose();
      return;
    }
    setRunning(true);
    const result = await editSlide(imageId, edit);
    setRunning(false);
    announce(result);
    if (result.success) onDone();
  }

  /** Contains only the changed fields: scans no longer apply metadata files (`catalogue.csv`) to a field that was edited. */
  const edit: SlideEdit = {
    ...(name.trim() !== slide.file_name && { file_name: name.trim() }),
    ...(dataset.trim() !== (slide.dataset_name ?? '') && { dataset_name: dataset.trim() }),
    ...(organ.trim() !== (slide.organ_type ?? '') && { organ_type: organ.trim() }),
    ...(calibration !== undefined && calibration !== 'invalid' && { calibration }),
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
          error={isNameMissing && texts.fileNameRequired}
          maxLength={255} // all lengths in this file are limits of the API
          value={name}
          onChange={(event) => setName(event.currentTarget.value)}
          data-autofocus
        />
        <DatasetField
          value={dataset}
          description={texts.moveNew}
          placeholder={texts.noDataset}
          onChange={setDataset}
        />
        <TextInput
          label={texts.organ}
          placeholder={texts.optional}
          maxLength={200}
          value={organ}
          onChange={(event) => setOrgan(event.currentTarget.value)}
        />
        <ScaleFields
          slide={slide}
          mpp={mpp}
          power={power}
          isInvalid={isScaleInvalid}
          onMppChange={setMpp}
          onPowerChange={setPower}
        />
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isRunning} onClick={onClose}>
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
