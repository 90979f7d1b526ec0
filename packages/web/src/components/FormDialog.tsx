import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts as sharedTexts } from '../language/texts.ts';
import { texts } from './texts.ts';
import { useReturnFocus } from './use-return-focus.ts';

interface FormDialogProps {
  readonly title: string;
  readonly submitLabel: string;
  /** Whether the action removes something: the submit button then has the warning colour. */
  readonly isDestructive?: boolean;
  /** Whether the submitted action is running: the submit button then shows progress. */
  readonly isRunning: boolean;
  readonly isSubmitDisabled?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Label of the button that calls `onClose`, when 'Cancel' does not fit: for example 'Stop' while the action runs. */
  readonly cancelLabel?: string;
  readonly children: ReactNode;
}

/** A dialog with a form: fields, a submit button and a cancel button. */
export function FormDialog({
  title,
  submitLabel,
  isDestructive = false,
  isRunning,
  isSubmitDisabled = false,
  onSubmit,
  onClose,
  cancelLabel,
  children,
}: FormDialogProps) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': sharedTexts.close }}
      centered
      withinPortal={false} // stays inside `main`; outside it, the dialog's header would be a second header of the page
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          onSubmit();
        }}
        noValidate
      >
        <Stack>
          {children}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              {cancelLabel ?? texts.cancel}
            </Button>
            <Button
              type="submit"
              {...(isDestructive && { color: 'eosin' })}
              loading={isRunning}
              disabled={isSubmitDisabled}
            >
              {submitLabel}
            </Button>
          </Group>
        </Stack>
      </form>
    </Modal>
  );
}
