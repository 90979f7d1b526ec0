import type { Status } from '@lamina/contract';

export const texts = {
  welcome: (name: string) => `Hoş geldiniz, ${name}`,
  userManagement: 'Kullanıcı Yönetimi',
  userManagementHint: 'Hesapları onaylayın, askıya alın, yetki verin.',
  openUserManagement: 'Kullanıcıları Yönet',
  statistics: 'Sistem İstatistikleri',
  statisticsFailed: 'İstatistikler yüklenemedi.',
  moreSoon: 'Daha fazla istatistik yakında.',
  slides: 'Slayt',
  datasets: 'Veri kümesi',
  storedBytes: 'Slaytların boyutu',
  openImageSessions: 'Açık görüntü oturumu',
  lastDays: 'Son 30 gün',
  signIns: 'Giriş',
  openedSlides: 'Açılan slayt',
  day: 'Gün',
  today: 'Bugün',
  plotTitle: (what: string) => `Son 30 gün: ${what.toLocaleLowerCase('tr')}, günlere göre`,
  plotDescription: (total: string, most: string, day: string) =>
    `Toplam ${total}. En çok ${most}, ${day} günü.`,
  plotNothing: 'Bu günlerde hiç yok.',
  plotTable: (what: string) => `${what}: tablo olarak göster`,
  audit: 'Denetim Kaydı',
  auditHint: 'Kim hangi slaydı açtı, kim ne zaman giriş yaptı, hangi karar kimin.',
  openAudit: 'Denetim Kaydını Aç',
};

export const accountCountLabels: Readonly<Record<Status, string>> = {
  pending: 'Onay bekleyen hesap',
  active: 'Aktif hesap',
  suspended: 'Askıya alınmış hesap',
  deactivated: 'Devre dışı hesap',
};
