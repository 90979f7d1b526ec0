/**
 * Texts of the account status screen. `languageBeforeChoice` is their language until the user chooses one
 * (language/language.ts).
 */
import type { Status } from '@lamina/contract';
import { wording } from '../../language/language.ts';
import { statusLabel } from '../../language/texts.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    heading: 'Hesap Durumu',
    suspended: 'Askıya Alınmış',
    reason: 'Başvurunuz şu gerekçeyle reddedildi:',
    ended: (date: string) => `Erişiminiz ${date} tarihinde sona erdi.`,
    contact: 'Lütfen bir yöneticiyle iletişime geçin.',
    backToLogin: 'Girişe Dön',
  },
  en: {
    heading: 'Account Status',
    suspended: 'Suspended',
    reason: 'Your application was rejected for this reason:',
    ended: (date) => `Your access ended on ${date}.`,
    contact: 'Please contact an administrator.',
    backToLogin: 'Back to Login',
  },
});

/** Returns the label of a status. For `suspended`, docs/requirements.md prescribes a label that only this page uses. */
export function pageStatusLabel(status: Status): string {
  return status === 'suspended' ? texts.suspended : statusLabel(status);
}
