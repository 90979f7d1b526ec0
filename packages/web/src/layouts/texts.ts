/** Words of the bars above the screens: in the mix English over the dashboard, Turkish over the administration. */
import { wording } from '../language.ts';

export const dashboardTexts = wording({
  mixed: 'en',
  tr: {
    navigation: 'Ana menü',
    wsiViewer: 'Slayt Görüntüleyici',
    adminPanel: 'Yönetim Paneli',
    profile: 'Profil',
    logout: 'Çıkış Yap',
    loggedOut: 'Başarıyla çıkış yapıldı.',
  },
  en: {
    navigation: 'Main',
    wsiViewer: 'WSI Viewer',
    adminPanel: 'Admin Panel',
    profile: 'Profile',
    logout: 'Logout',
    loggedOut: 'Successfully logged out.',
  },
});

export const adminTexts = wording({
  mixed: 'tr',
  otherwise: ['badge'],
  tr: {
    navigation: 'Yönetim sayfaları',
    adminDashboard: 'Yönetim',
    users: 'Kullanıcılar',
    audit: 'Denetim Kaydı',
    peopleWait: (count: number) => `${count} kişi onay bekliyor`,
    slides: 'Slaytlar',
    datasets: 'Veri Kümeleri',
    requestsWait: (count: number) => `${count} istek yanıt bekliyor`,
    backToDashboard: 'Panele Dön',
    badge: 'Yönetici',
    profile: 'Profil',
    logout: 'Çıkış Yap',
  },
  en: {
    navigation: 'Administration',
    adminDashboard: 'Overview',
    users: 'Users',
    audit: 'Audit Trail',
    peopleWait: (count) => (count === 1 ? '1 person awaits approval' : `${count} people await approval`),
    slides: 'Slides',
    datasets: 'Datasets',
    requestsWait: (count) =>
      count === 1 ? '1 request awaits an answer' : `${count} requests await an answer`,
    backToDashboard: 'Back to Dashboard',
    badge: 'Admin',
    profile: 'Profile',
    logout: 'Logout',
  },
});
