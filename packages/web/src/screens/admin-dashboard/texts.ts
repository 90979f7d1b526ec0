import { statusLabel } from '../../texts.ts';

export const texts = {
  welcome: (name: string) => `Hoş geldiniz, ${name}`,
  userManagement: 'Kullanıcı Yönetimi',
  userManagementHint: 'Hesapları onaylayın, askıya alın, yetki verin.',
  openUserManagement: 'Kullanıcıları Yönet',
  statistics: 'Sistem İstatistikleri',
  statisticsFailed: 'İstatistikler yüklenemedi.',
  moreSoon: 'Daha fazla istatistik yakında.',
  accounts: (status: string) => `Hesap: ${statusLabel(status)}`,
  slides: 'Slayt',
  datasets: 'Veri Kümesi',
  storedBytes: 'Slaytların Boyutu',
  openImageSessions: 'Açık Görüntü Oturumu',
};
