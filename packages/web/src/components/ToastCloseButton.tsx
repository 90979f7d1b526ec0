import { CloseButton } from '@mantine/core';
import type { CloseButtonProps } from 'react-toastify';
import { texts } from '../language/texts.ts';

/** The close button of a toast in the current language; the default button of react-toastify is always in English. */
export function ToastCloseButton({ closeToast }: CloseButtonProps) {
  return (
    <CloseButton
      size="sm"
      aria-label={texts.close}
      onClick={closeToast}
      style={{ alignSelf: 'flex-start', marginInlineStart: 'auto' }}
    />
  );
}
