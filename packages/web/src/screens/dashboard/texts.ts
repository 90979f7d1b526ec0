import type { Activity } from '@lamina/contract';
import { wording } from '../../language.ts';

export const texts = wording({
  mixed: 'tr',
  otherwise: ['wsiViewer'],
  tr: {
    greeting: (name: string) => `Hoş geldiniz, ${name}`,
    recentActivity: 'Son Etkinlikler',
    activityFailed: 'Son etkinlikler yüklenemedi.',
    noActivity: 'Henüz bir etkinlik yok.',
    quickLinks: 'Hızlı Bağlantılar',
    wsiViewer: 'Slayt Görüntüleyici',
    wsiViewerHint: 'Slaytları inceleyin',
    profile: 'Profil',
    profileHint: 'Hesap bilgileriniz ve şifreniz',
    adminPanel: 'Yönetim Paneli',
    adminPanelHint: 'Kullanıcılar ve istatistikler',
  },
  en: {
    greeting: (name) => `Welcome, ${name}`,
    recentActivity: 'Recent Activity',
    activityFailed: 'Your recent activity could not be loaded.',
    noActivity: 'No activity yet.',
    quickLinks: 'Quick Links',
    wsiViewer: 'WSI Viewer',
    wsiViewerHint: 'Examine the slides',
    profile: 'Profile',
    profileHint: 'Your account and your password',
    adminPanel: 'Admin Panel',
    adminPanelHint: 'Users and statistics',
  },
});

/** A slide's name is put in by the one that shows it, as a link. */
export const activityLabels = wording<Record<Activity['action'], string>>({
  mixed: 'tr',
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
