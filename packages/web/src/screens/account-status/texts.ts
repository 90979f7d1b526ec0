import type { Status } from '@lamina/contract';
import { statusLabel } from '../../texts.ts';

export const texts = {
  heading: 'Hesap Durumu',
  contact: 'Lütfen bir yöneticiyle iletişime geçin.',
  backToLogin: 'Girişe Dön',
};

/** This page alone says 'Askıya Alınmış'. */
export function pageStatusLabel(status: Status): string {
  return status === 'suspended' ? 'Askıya Alınmış' : statusLabel(status);
}
