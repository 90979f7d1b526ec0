import type { Activity } from '@lamina/contract';

export const texts = {
  greeting: (name: string) => `Hoş geldiniz, ${name}`,
  recentActivity: 'Son Etkinlikler',
  activityFailed: 'Son etkinlikler yüklenemedi.',
  noActivity: 'Henüz bir etkinlik yok.',
  quickLinks: 'Hızlı Bağlantılar',
  wsiViewer: 'WSI Viewer',
  wsiViewerHint: 'Slaytları inceleyin',
  profile: 'Profil',
  profileHint: 'Hesap bilgileriniz ve şifreniz',
  adminPanel: 'Yönetim Paneli',
  adminPanelHint: 'Kullanıcılar ve istatistikler',
};

/** A slide's name is put in by the one that shows it, as a link. */
export const activityLabels: Readonly<Record<Activity['action'], string>> = {
  'sign-in': 'Giriş yapıldı',
  'image-opened': 'Slayt açıldı',
  'password-changed': 'Şifre değiştirildi',
  registered: 'Hesap oluşturuldu',
  approved: 'Hesap onaylandı',
  promoted: 'Yönetici yetkisi verildi',
};
