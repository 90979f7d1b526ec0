import type { Status } from '@lamina/contract';
import { statusLabel } from '../../texts.ts';

export const texts = {
  heading: 'Hesap Durumu',
  reason: 'Başvurunuz şu gerekçeyle reddedildi:',
  ended: (date: string) => `Erişiminiz ${date} tarihinde sona erdi.`,
  contact: 'Lütfen bir yöneticiyle iletişime geçin.',
  backToLogin: 'Girişe Dön',
};

/** This page alone says 'Askıya Alınmış'. */
export function pageStatusLabel(status: Status): string {
  return status === 'suspended' ? 'Askıya Alınmış' : statusLabel(status);
}
