import { Button, Group, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import { type BulkEdit, changeSlides } from '../../api/slides.ts';
import { announce } from '../../notifications/notify.ts';
import type { SlideFormProps } from './dialog-request.ts';
import { texts } from './texts.ts';

interface ChangeFormProps extends SlideFormProps {
  /** Explains the effect of the change. */
  readonly hint: string;
  readonly submitLabel: string;
  /** The change that submitting the form applies to all slides. */
  readonly change: BulkEdit;
  /** The input field of the new value. */
  readonly children: ReactNode;
}

/** A form that sets one property of one or more slides, such as their dataset or organ. */
export function ChangeForm(props: ChangeFormProps) {
  const { slides, hint, submitLabel, change, children, isRunning, setRunning, onClose, onDone } = props;

  async function submit() {
    setRunning(true);
    const result = await changeSlides(
      slides.map(({ id }) => id),
      change,
    );
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
        <Text>{hint}</Text>
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isRunning} onClick={onClose}>
            {texts.cancel}
          </Button>
          <Button type="submit" loading={isRunning}>
            {submitLabel}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
