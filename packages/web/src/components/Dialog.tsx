import type { Language } from '@lamina/contract';
import { Modal, type ModalProps } from '@mantine/core';
import { dialogTexts } from './texts.ts';
import { useReturnFocus } from './use-return-focus.ts';

interface DialogProps extends Pick<ModalProps, 'size' | 'centered' | 'children'> {
  readonly title: string;
  /** Language of the dialog's own texts until the user chooses one (language/language.ts): 'en' in the WSI Viewer. */
  readonly languageBeforeChoice?: Language;
  /** Whether the dialog waits for the result of an action. */
  readonly isRunning?: boolean;
  readonly onClose: () => void;
}

/**
 * A dialog over the screen. When it closes, the element that opened it gets the focus. The user cannot close it while its action is
 * running, because the result would then appear on another screen or in another dialog.
 */
export function Dialog({ languageBeforeChoice = 'tr', isRunning = false, onClose, ...props }: DialogProps) {
  useReturnFocus();
  return (
    <Modal
      {...props}
      opened
      onClose={onClose}
      closeOnEscape={!isRunning}
      closeOnClickOutside={!isRunning}
      closeButtonProps={{ 'aria-label': dialogTexts[languageBeforeChoice].close, disabled: isRunning }}
      withinPortal={false} // stays inside `main`; outside it, the dialog's header would be a second header of the page
    />
  );
}
