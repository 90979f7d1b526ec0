import { Button, Group, Modal, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { texts as sharedTexts } from '../language/texts.ts';
import { texts } from './texts.ts';
import { useReturnFocus } from './use-return-focus.ts';
import { useSettled } from './use-settled.ts';

interface ConfirmDialogProps {
  readonly title: string;
  readonly confirmLabel: string;
  /** Whether the action is destructive: the confirm button then has the warning colour. */
  readonly isDestructive?: boolean;
  readonly isConfirmDisabled?: boolean;
  /** The confirm button shows progress until the promise settles. The caller then closes the dialog. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  /** Description of the change. */
  readonly children: ReactNode;
}

/** A dialog that asks the user to confirm an action that cannot be undone or has further consequences. */
export function ConfirmDialog({
  title,
  confirmLabel,
  isDestructive = false,
  isConfirmDisabled = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  useReturnFocus();
  const [isRunning, setRunning] = useState(false);
  // The dialog may open under the pointer. The confirm button is disabled for the first 0.7 s, so that a double click
  // does not confirm the dialog; the layout 'open' never changes.
  const isSettled = useSettled('open', { isInitiallySettled: false });

  async function confirm() {
    setRunning(true);
    try {
      await onConfirm();
    } finally {
      setRunning(false);
    }
  }

  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ 'aria-label': sharedTexts.close }}
      centered
      withinPortal={false} // stays inside `main`; outside it, the dialog's header would be a second header of the page
    >
      <Stack>
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" onClick={onClose} data-autofocus>
            {texts.cancel}
          </Button>
          <Button
            {...(isDestructive && { color: 'eosin' })}
            loading={isRunning}
            disabled={!isSettled || isConfirmDisabled}
            onClick={() => void confirm()}
          >
            {confirmLabel}
          </Button>
        </Group>
      </Stack>
    </Modal>
  );
}
