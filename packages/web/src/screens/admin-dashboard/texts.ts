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
};

export const accountCountLabels: Readonly<Record<Status, string>> = {
  pending: 'Onay bekleyen hesap',
  active: 'Aktif hesap',
  suspended: 'Askıya alınmış hesap',
  deactivated: 'Devre dışı hesap',
};
