import { CloseButton } from '@mantine/core';
import type { CloseButtonProps } from 'react-toastify';
import { texts } from '../texts.ts';

/** The library's own says 'close', in English. */
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
