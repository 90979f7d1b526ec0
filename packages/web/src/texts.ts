/** Words that several screens show. */
import type { Role, Status } from '@lamina/contract';

const statusLabels: Readonly<Record<Status, string>> = {
  pending: 'Onay Bekliyor',
  active: 'Aktif',
  suspended: 'Askıya Alındı',
  deactivated: 'Devre Dışı',
};

const roleLabels: Readonly<Record<Role, string>> = {
  admin: 'Yönetici',
  user: 'Kullanıcı',
  viewer: 'İzleyici',
  unassigned: 'Atanmamış',
};

const unknown = 'Bilinmiyor';

export function statusLabel(status: string): string {
  return Object.hasOwn(statusLabels, status) ? statusLabels[status as Status] : unknown;
}

export function roleLabel(role: string): string {
  return Object.hasOwn(roleLabels, role) ? roleLabels[role as Role] : unknown;
}

export const texts = {
  loading: 'Yükleniyor…',
  retry: 'Tekrar Dene',
  close: 'Kapat',
  notifications: 'Bildirimler',
  skipToContent: 'İçeriğe geç',
  sessionEnded: 'Oturumunuz sona erdi. Lütfen yeniden giriş yapın.',
  rightsReserved: 'Tüm hakları saklıdır.',

  email: 'E-posta',
  password: 'Şifre',
  passwordConfirmation: 'Şifre (Tekrar)',
  newPassword: 'Yeni Şifre',
  newPasswordConfirmation: 'Yeni Şifre (Tekrar)',
  currentPassword: 'Mevcut şifre',
  showTyped: 'Yazılanı göster',
  passwordHint: 'En az 8 karakter.',
  emailRequired: 'E-posta adresi gerekli.',
  emailInvalid: 'Geçerli bir e-posta adresi girin.',
  passwordRequired: 'Şifre gerekli.',
  passwordTooShort: 'Şifre en az 8 karakter olmalı.',
  passwordTooLong: 'Şifre en fazla 128 karakter olabilir.',
  newPasswordRequired: 'Yeni şifre gerekli.',
  newPasswordTooShort: 'Yeni şifre en az 8 karakter olmalı.',
  newPasswordTooLong: 'Yeni şifre en fazla 128 karakter olabilir.',
  currentPasswordRequired: 'Mevcut şifre gerekli.',
  currentPasswordWrong: 'Mevcut şifre yanlış.',
  passwordsDiffer: 'Şifreler eşleşmiyor.',
  displayNameTooLong: 'Görünen ad en fazla 100 karakter olabilir.',

  uid: 'Kullanıcı Kimliği',
  displayName: 'Görünen Ad',
  notGiven: 'Belirtilmemiş',
  status: 'Durum',
  role: 'Rol',
  createdAt: 'Kayıt Tarihi',
  updatedAt: 'Güncellenme Tarihi',
  approvalDate: 'Onay Tarihi',
  expiresAt: 'Bitiş Tarihi',
};
