import { CloseButton } from '@mantine/core';
import type { CloseButtonProps } from 'react-toastify';
import { texts } from '../language/texts.ts';

/** Close button in the page's language; the library's own is in English. */
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
