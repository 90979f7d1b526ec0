/**
 * Texts of the admin dashboard. `languageBeforeChoice` is their language until the user chooses one
 * (language/language.ts).
 */
import type { Status } from '@lamina/contract';
import { wording } from '../../language/language.ts';

export const texts = wording({
  languageBeforeChoice: 'tr',
  tr: {
    welcome: (name: string) => `Hoş geldiniz, ${name}`,
    userManagement: 'Kullanıcı Yönetimi',
    userManagementHint: 'Hesapları onaylayın, askıya alın, yetki verin.',
    openUserManagement: 'Kullanıcıları Yönet',
    slideManagement: 'Slaytlar',
    slideManagementHint: 'Kataloğu düzenleyin, slaytları taşıyın, gizleyin, kaldırın.',
    openSlides: 'Slaytları Yönet',
    statistics: 'Sistem İstatistikleri',
    statisticsFailed: 'İstatistikler yüklenemedi.',
    moreStatisticsSoon: 'Daha fazla istatistik yakında.',
    slides: 'Slayt',
    datasets: 'Veri kümesi',
    storedBytes: 'Slaytların boyutu',
    openImageSessions: 'Açık görüntü oturumu',
    lastDays: 'Son 30 gün',
    signIns: 'Giriş',
    openedSlides: 'Açılan slayt',
    day: 'Gün',
    today: 'Bugün',
    plotTitle: (title: string) => `Son 30 gün: ${title.toLocaleLowerCase('tr')}, günlere göre`,
    plotDescription: (total: string, max: string, day: string) =>
      `Toplam ${total}. En çok ${max}, ${day} günü.`,
    plotEmpty: 'Son 30 günde hiç yok.',
    plotTable: (title: string) => `${title}: tablo olarak göster`,
    audit: 'Denetim Kaydı',
    auditHint: 'Kim hangi slaydı açtı, kim ne zaman giriş yaptı, hangi kararı kim verdi.',
    openAudit: 'Denetim Kaydını Aç',
    apiTokens: 'API Anahtarları',
    apiTokensHint: 'Hangi programların hangi hesap adına eriştiğini görün, anahtarları iptal edin.',
    openApiTokens: 'Anahtarları Gör',
  },
  en: {
    welcome: (name) => `Welcome, ${name}`,
    userManagement: 'User Management',
    userManagementHint: 'Approve and suspend accounts, give them rights.',
    openUserManagement: 'Manage Users',
    slideManagement: 'Slide Catalogue',
    slideManagementHint: 'Edit the catalogue; move, hide and remove slides.',
    openSlides: 'Manage Slides',
    statistics: 'System Statistics',
    statisticsFailed: 'The statistics could not be loaded.',
    moreStatisticsSoon: 'More statistics are coming soon.',
    slides: 'Slides',
    datasets: 'Datasets',
    storedBytes: 'Size of the slides',
    openImageSessions: 'Open image sessions',
    lastDays: 'Last 30 days',
    signIns: 'Logins',
    openedSlides: 'Slides opened',
    day: 'Day',
    today: 'Today',
    plotTitle: (title) => `Last 30 days: ${title.toLowerCase()}, day by day`,
    plotDescription: (total, max, day) => `Total: ${total}. Most on ${day}: ${max}.`,
    plotEmpty: 'None in the last 30 days.',
    plotTable: (title) => `${title}: show as a table`,
    audit: 'Audit Log',
    auditHint: 'Who opened which slide, who logged in when, who decided what.',
    openAudit: 'Open the Audit Log',
    apiTokens: 'API Tokens',
    apiTokensHint: 'See which programs have access on behalf of which account, and revoke their tokens.',
    openApiTokens: 'View Tokens',
  },
});

export const accountCountLabels = wording<Record<Status, string>>({
  languageBeforeChoice: 'tr',
  tr: {
    pending: 'Onay bekleyen hesap',
    active: 'Aktif hesap',
    suspended: 'Askıya alınmış hesap',
    deactivated: 'Devre dışı hesap',
  },
  en: {
    pending: 'Pending accounts',
    active: 'Active accounts',
    suspended: 'Suspended accounts',
    deactivated: 'Deactivated accounts',
  },
});
