/**
 * Texts of the dashboard. Until the user chooses a language, the interface is partly Turkish and partly English, as
 * docs/requirements.md prescribes; these texts are then in `languageBeforeChoice`.
 */
import type { Activity } from '@lamina/contract';
import { formatNumber } from '../../formatting/numbers.ts';
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  exceptions: ['wsiViewer'], // English until the user chooses a language
  tr: {
    greeting: (name: string) => `Hoş geldiniz, ${name}`,
    linkedSlide: 'Giriş yapmadan önce bir slayt bağlantısı açtınız.',
    linkedSlideOpen: 'Bağlantıdaki slaydı aç',
    recentActivity: 'Son Etkinlikler',
    activityFailed: 'Son etkinlikler yüklenemedi.',
    noActivity: 'Henüz bir etkinlik yok.',
    recentAnnotations: 'Son İşaretlemeler',
    annotationsFailed: 'Son işaretlemeler yüklenemedi.',
    annotations: (count: number) => `${formatNumber(count)} işaretleme`,
    quickLinks: 'Hızlı Bağlantılar',
    wsiViewer: 'Slayt Görüntüleyici',
    wsiViewerHint: 'Slaytları inceleyin',
    profile: 'Profil',
    profileHint: 'Hesap bilgileriniz ve şifreniz',
    adminPanel: 'Yönetim Paneli',
    adminPanelHint: 'Kullanıcılar ve istatistikler',
    waitingPeople: 'Onay bekleyenler',
    waitingCount: (count: number) => `${formatNumber(count)} kişi onayınızı bekliyor`,
  },
  en: {
    greeting: (name) => `Welcome, ${name}`,
    linkedSlide: 'You opened a link to a slide before you logged in.',
    linkedSlideOpen: 'Open the slide of the link',
    recentActivity: 'Recent Activity',
    activityFailed: 'Your recent activity could not be loaded.',
    noActivity: 'No activity yet.',
    recentAnnotations: 'Recent Annotations',
    annotationsFailed: 'The recent annotations could not be loaded.',
    annotations: (count) => (count === 1 ? '1 annotation' : `${formatNumber(count)} annotations`),
    quickLinks: 'Quick Links',
    wsiViewer: 'WSI Viewer',
    wsiViewerHint: 'Examine the slides',
    profile: 'Profile',
    profileHint: 'Your account and your password',
    adminPanel: 'Admin Panel',
    adminPanelHint: 'Users and statistics',
    waitingPeople: 'Pending applications',
    waitingCount: (count) =>
      count === 1 ? '1 person awaits your approval' : `${formatNumber(count)} people await your approval`,
  },
});

/** Labels of the actions. The screen adds the name of the slide as a link. */
export const activityLabels = wording<Record<Activity['action'], string>>({
  languageBeforeChoice: 'tr',
  tr: {
    'sign-in': 'Giriş yapıldı',
    'image-opened': 'Slayt açıldı',
    'password-changed': 'Şifre değiştirildi',
    registered: 'Hesap oluşturuldu',
    approved: 'Hesap onaylandı',
    promoted: 'Yönetici yetkisi verildi',
  },
  en: {
    'sign-in': 'Logged in',
    'image-opened': 'Slide opened',
    'password-changed': 'Password changed',
    registered: 'Account created',
    approved: 'Account approved',
    promoted: 'Made an administrator',
  },
});
