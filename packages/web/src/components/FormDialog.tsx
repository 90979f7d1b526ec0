import type { Language } from '@lamina/contract';
import { Button, Group, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { Dialog } from './Dialog.tsx';
import { dialogTexts } from './texts.ts';

interface FormDialogProps {
  readonly title: string;
  /** Language of the button texts until the user chooses one: 'en' in the WSI Viewer. */
  readonly languageBeforeChoice?: Language;
  readonly submitLabel: string;
  /** Whether the action removes something: the submit button then has the warning colour. */
  readonly isDestructive?: boolean;
  /** Whether the submitted action is running: the submit button then shows progress, and the user cannot close the dialog. */
  readonly isRunning: boolean;
  readonly isSubmitDisabled?: boolean;
  readonly onSubmit: () => void;
  readonly onClose: () => void;
  /** Label of the button that calls `onClose`, when 'Cancel' does not fit. */
  readonly cancelLabel?: string;
  /** Label of the same button while the action is running, if `onClose` then stops the action. Without it, the button is disabled. */
  readonly stopLabel?: string;
  readonly children: ReactNode;
}

/** A dialog with a form: fields, a submit button and a cancel button. */
export function FormDialog({
  title,
  languageBeforeChoice = 'tr',
  submitLabel,
  isDestructive = false,
  isRunning,
  isSubmitDisabled = false,
  onSubmit,
  onClose,
  cancelLabel,
  stopLabel,
  children,
}: FormDialogProps) {
  const isLocked = isRunning && stopLabel === undefined;
  return (
    <Dialog
      title={title}
      languageBeforeChoice={languageBeforeChoice}
      centered
      isRunning={isLocked}
      onClose={onClose}
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
            <Button variant="default" disabled={isLocked} onClick={onClose}>
              {(isRunning ? stopLabel : cancelLabel) ?? dialogTexts[languageBeforeChoice].cancel}
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
    </Dialog>
  );
}
