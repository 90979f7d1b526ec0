/** Texts of the navigation bars. `languageBeforeChoice` is their language until the user chooses one (language/language.ts). */
import { wording } from '../language/language.ts';

export const dashboardTexts = wording({
  languageBeforeChoice: 'en',
  tr: {
    navigation: 'Ana menü',
    wsiViewer: 'Slayt Görüntüleyici',
    collections: 'Koleksiyonlar',
    adminPanel: 'Yönetim Paneli',
    profile: 'Profil',
    logout: 'Çıkış Yap',
    loggedOut: 'Başarıyla çıkış yapıldı.',
  },
  en: {
    navigation: 'Main menu',
    wsiViewer: 'WSI Viewer',
    collections: 'Collections',
    adminPanel: 'Admin Panel',
    profile: 'Profile',
    logout: 'Logout',
    loggedOut: 'Successfully logged out.',
  },
});

export const adminTexts = wording({
  languageBeforeChoice: 'tr',
  exceptions: ['badge'], // in English until the user chooses a language
  tr: {
    navigation: 'Yönetim sayfaları',
    adminDashboard: 'Yönetim',
    users: 'Kullanıcılar',
    audit: 'Denetim Kaydı',
    peopleWait: (count: number) => `${count} kişi onay bekliyor`,
    slides: 'Slaytlar',
    /** @param share how much of the uploads has been sent, from 0 to 1 */
    uploadsRun: (count: number, share: number) => `${count} yükleme sürüyor (%${Math.floor(share * 100)})`,
    cases: 'Vakalar',
    datasets: 'Veri Kümeleri',
    requestsWait: (count: number) => `${count} istek yanıt bekliyor`,
    backToDashboard: 'Ana Sayfaya Dön',
    badge: 'Yönetici',
    profile: 'Profil',
    logout: 'Çıkış Yap',
  },
  en: {
    navigation: 'Administration',
    adminDashboard: 'Overview',
    users: 'Users',
    audit: 'Audit Log',
    peopleWait: (count) => (count === 1 ? '1 person awaits approval' : `${count} people await approval`),
    slides: 'Slides',
    uploadsRun: (count, share) =>
      `${count === 1 ? '1 upload' : `${count} uploads`} in progress (${Math.floor(share * 100)}%)`,
    cases: 'Cases',
    datasets: 'Datasets',
    requestsWait: (count) =>
      count === 1 ? '1 request awaits an answer' : `${count} requests await an answer`,
    backToDashboard: 'Back to Dashboard',
    badge: 'Admin',
    profile: 'Profile',
    logout: 'Logout',
  },
});
