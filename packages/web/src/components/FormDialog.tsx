import { Button, Group, Modal, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { texts as shared } from '../language/texts.ts';
import { texts } from './texts.ts';
import { useReturnFocus } from './use-return-focus.ts';

interface FormDialogProps {
  readonly title: string;
  readonly submitLabel: string;
  /** Whether the action removes something: the submit button then has the warning colour. */
  readonly isGrave?: boolean;
  readonly isRunning: boolean;
  readonly isSubmitDisabled?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Replaces 'Cancel', for example when the action can be stopped while it runs. */
  readonly cancelLabel?: string;
  readonly children: ReactNode;
}

/** A dialog with a form: fields, a submit button and a cancel button. */
export function FormDialog({
  title,
  submitLabel,
  isGrave = false,
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
      closeButtonProps={{ 'aria-label': shared.close }}
      centered
      withinPortal={false}
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
              {...(isGrave && { color: 'eosin' })}
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
