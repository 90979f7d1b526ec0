import { Button, Group, Stack, Text } from '@mantine/core';
import { changeSlides } from '../../api/slides.ts';
import { announceAction } from '../../components/announce-action.tsx';
import { announce } from '../../notifications/notify.ts';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

/** Asks an administrator for a confirmation, and removes the slides from the catalogue. The toast and the slide list offer to undo this. */
export function RemoveForm({ slides, isRunning, setRunning, onClose, onDone }: SlideFormProps) {
  const [firstSlide] = slides;

  async function remove() {
    const ids = slides.map(({ id }) => id);
    setRunning(true);
    const result = await changeSlides(ids, { removed: true });
    setRunning(false);
    if (!result.success) {
      announce(result);
      return;
    }
    announceAction(result, { undo: () => changeSlides(ids, { removed: false }) });
    onDone();
  }

  return (
    <Stack>
      <Text>
        {slides.length === 1 && firstSlide
          ? texts.removeOne(firstSlide.file_name)
          : texts.removeMany(slides.length)}
      </Text>
      <Text c="dimmed">{texts.removeHint}</Text>
      <Group justify="flex-end" gap="xs">
        <Button variant="default" disabled={isRunning} onClick={onClose} data-autofocus>
          {texts.cancel}
        </Button>
        <Button color="eosin" loading={isRunning} onClick={() => void remove()}>
          {texts.remove}
        </Button>
      </Group>
    </Stack>
  );
}
