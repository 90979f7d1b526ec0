import type { Language } from '@lamina/contract';
import { Modal, type ModalProps } from '@mantine/core';
import { dialogTexts } from './texts.ts';
import { useReturnFocus } from './use-return-focus.ts';

interface DialogProps extends Pick<ModalProps, 'size' | 'centered' | 'children'> {
  readonly title: string;
  /** Language of the dialog's own texts when the interface mixes Turkish and English: 'en' in the WSI Viewer. */
  readonly languageWhenMixed?: Language;
  /** Whether an action of the dialog is running whose result the dialog waits for; by default, none is. */
  readonly isRunning?: boolean;
  readonly onClose: () => void;
}

/**
 * A dialog over the screen, which returns the focus to the element that opened it. It cannot be closed while its action is running:
 * the result would reach a screen or another dialog that the user has opened since.
 */
export function Dialog({ languageWhenMixed = 'tr', isRunning = false, onClose, ...props }: DialogProps) {
  useReturnFocus();
  return (
    <Modal
      {...props}
      opened
      onClose={onClose}
      closeOnEscape={!isRunning}
      closeOnClickOutside={!isRunning}
      closeButtonProps={{ 'aria-label': dialogTexts[languageWhenMixed].close, disabled: isRunning }}
      withinPortal={false} // stays inside `main`; outside it, the dialog's header would be a second header of the page
    />
  );
}
