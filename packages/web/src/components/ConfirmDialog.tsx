import type { Language } from '@lamina/contract';
import { Button, Group, Stack } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import { Dialog } from './Dialog.tsx';
import { dialogTexts } from './texts.ts';
import { useSettled } from './use-settled.ts';

interface ConfirmDialogProps {
  readonly title: string;
  /** Language of the button texts until the user chooses one: 'en' in the WSI Viewer. */
  readonly languageBeforeChoice?: Language;
  readonly confirmLabel: string;
  /** Whether the action is destructive: the confirm button then has the warning colour. */
  readonly isDestructive?: boolean;
  readonly isConfirmDisabled?: boolean;
  /** Until the promise settles, the confirm button shows progress and the user cannot close the dialog. The caller closes it afterwards. */
  readonly onConfirm: () => Promise<void>;
  readonly onClose: () => void;
  /** Description of the change. */
  readonly children: ReactNode;
}

/** A dialog that asks the user to confirm an action that cannot be undone or has further consequences. */
export function ConfirmDialog({
  title,
  languageBeforeChoice = 'tr',
  confirmLabel,
  isDestructive = false,
  isConfirmDisabled = false,
  onConfirm,
  onClose,
  children,
}: ConfirmDialogProps) {
  const [isRunning, setRunning] = useState(false);
  // The dialog may open under the pointer. The confirm button is disabled for the first 0.7 s, so that a double click does not confirm
  // the dialog. With the constant 'open' in place of a description of the layout, it is not disabled again.
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
    <Dialog
      title={title}
      languageBeforeChoice={languageBeforeChoice}
      centered
      isRunning={isRunning}
      onClose={onClose}
    >
      <Stack>
        {children}
        <Group justify="flex-end" gap="xs">
          <Button variant="default" disabled={isRunning} onClick={onClose} data-autofocus>
            {dialogTexts[languageBeforeChoice].cancel}
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
    </Dialog>
  );
}
