/**
 * Texts shared by several screens, and the titles of all screens. Until the user chooses a language, the texts are in
 * `languageBeforeChoice`, and those named in `exceptions` in the other language (language.ts).
 */
import type { Role, Status } from '@lamina/contract';
import { wording } from './language.ts';

const statusLabels = wording<Record<Status, string>>({
  languageBeforeChoice: 'tr',
  tr: {
    pending: 'Onay Bekliyor',
    active: 'Aktif',
    suspended: 'Askıya Alındı',
    deactivated: 'Devre Dışı',
  },
  en: {
    pending: 'Pending Approval',
    active: 'Active',
    suspended: 'Suspended',
    deactivated: 'Deactivated',
  },
});

const roleLabels = wording<Record<Role, string>>({
  languageBeforeChoice: 'tr',
  tr: {
    admin: 'Yönetici',
    user: 'Kullanıcı',
    viewer: 'İzleyici',
    unassigned: 'Atanmamış',
  },
  en: {
    admin: 'Administrator',
    user: 'User',
    viewer: 'Viewer',
    unassigned: 'Unassigned',
  },
});

/** Returns the label of an account status; "Unknown" for a status that this version of the app does not know. */
export function statusLabel(status: string): string {
  return Object.hasOwn(statusLabels, status) ? statusLabels[status as Status] : texts.unknown;
}

/** Returns the label of a role; "Unknown" for a role that this version of the app does not know. */
export function roleLabel(role: string): string {
  return Object.hasOwn(roleLabels, role) ? roleLabels[role as Role] : texts.unknown;
}

/** Titles of the screens in the browser's tab. */
export const titles = wording({
  languageBeforeChoice: 'tr',
  exceptions: ['dashboard', 'profile', 'wsiViewer', 'adminDashboard', 'userManagement'],
  tr: {
    login: 'Giriş',
    register: 'Kayıt Ol',
    confirmRegistration: 'E-posta Doğrulama',
    passwordReset: 'Şifre Sıfırlama',
    shared: 'Paylaşılan Slayt',
    accountStatus: 'Hesap Durumu',
    dashboard: 'Ana Sayfa',
    profile: 'Profil',
    wsiViewer: 'Slayt Görüntüleyici',
    collections: 'Koleksiyonlar',
    collectionAnswers: 'Yanıtlar',
    adminDashboard: 'Yönetim Paneli',
    userManagement: 'Kullanıcı Yönetimi',
    audit: 'Denetim Kaydı',
    datasets: 'Veri Kümeleri',
    apiTokens: 'API Anahtarları',
    slides: 'Slaytlar',
    cases: 'Vakalar',
    notFound: 'Sayfa Bulunamadı',
  },
  en: {
    login: 'Log In',
    register: 'Register',
    confirmRegistration: 'E-mail Confirmation',
    passwordReset: 'Password Reset',
    shared: 'Shared Slide',
    accountStatus: 'Account Status',
    dashboard: 'Dashboard',
    profile: 'Profile',
    wsiViewer: 'WSI Viewer',
    collections: 'Collections',
    collectionAnswers: 'Answers',
    adminDashboard: 'Admin Dashboard',
    userManagement: 'User Management',
    audit: 'Audit Log',
    datasets: 'Datasets',
    apiTokens: 'API Tokens',
    slides: 'Slides',
    cases: 'Cases',
    notFound: 'Page Not Found',
  },
});

/** Notice for a person whose account is pending, on every screen that shows `PendingBanner`. */
export const pendingTexts = wording({
  languageBeforeChoice: 'en',
  tr: { heading: 'Hesabınız Onay Bekliyor', hint: 'Bazı özellikler kısıtlı olabilir' },
  en: { heading: 'Your Account is Pending Approval', hint: 'Some features may be limited' },
});

export const texts = wording({
  languageBeforeChoice: 'tr',
  exceptions: ['notAvailable'],
  tr: {
    loading: 'Yükleniyor…',
    partFailed: 'Bu bölüm yüklenemedi.',
    retry: 'Tekrar Dene',
    close: 'Kapat',
    notifications: 'Bildirimler',
    skipToContent: 'İçeriğe geç',
    sessionEnded: 'Oturumunuz sona erdi. Lütfen yeniden giriş yapın.',
    rightsReserved: 'Tüm hakları saklıdır.',
    languageIs: (name: string) => `Dil: ${name}`,

    email: 'E-posta',
    password: 'Şifre',
    passwordConfirmation: 'Şifre (Tekrar)',
    newPassword: 'Yeni Şifre',
    newPasswordConfirmation: 'Yeni Şifre (Tekrar)',
    currentPassword: 'Mevcut şifre',
    passwordHint: 'En az 8 karakter.',
    passwordStrength: {
      tooShort: 'Çok kısa',
      weak: 'Zayıf: daha uzun bir şifre seçin',
      fair: 'Orta',
      strong: 'Güçlü',
    },
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
    unknown: 'Bilinmiyor',
    notAvailable: 'Yok',
  },
  en: {
    loading: 'Loading…',
    partFailed: 'This part could not be loaded.',
    retry: 'Try Again',
    close: 'Close',
    notifications: 'Notifications',
    skipToContent: 'Skip to content',
    sessionEnded: 'Your session has ended. Please log in again.',
    rightsReserved: 'All rights reserved.',
    languageIs: (name: string) => `Language: ${name}`,

    email: 'E-mail',
    password: 'Password',
    passwordConfirmation: 'Password (again)',
    newPassword: 'New Password',
    newPasswordConfirmation: 'New Password (again)',
    currentPassword: 'Current password',
    passwordHint: 'At least 8 characters.',
    passwordStrength: {
      tooShort: 'Too short',
      weak: 'Weak: choose a longer password',
      fair: 'Fair',
      strong: 'Strong',
    },
    emailRequired: 'An e-mail address is required.',
    emailInvalid: 'Enter a valid e-mail address.',
    passwordRequired: 'A password is required.',
    passwordTooShort: 'The password must have at least 8 characters.',
    passwordTooLong: 'The password may have at most 128 characters.',
    newPasswordRequired: 'A new password is required.',
    newPasswordTooShort: 'The new password must have at least 8 characters.',
    newPasswordTooLong: 'The new password may have at most 128 characters.',
    currentPasswordRequired: 'The current password is required.',
    currentPasswordWrong: 'The current password is wrong.',
    passwordsDiffer: 'The passwords do not match.',
    displayNameTooLong: 'The display name may have at most 100 characters.',

    uid: 'User ID',
    displayName: 'Display Name',
    notGiven: 'Not given',
    status: 'Status',
    role: 'Role',
    createdAt: 'Registered',
    updatedAt: 'Updated',
    approvalDate: 'Approved',
    expiresAt: 'Ends',
    unknown: 'Unknown',
    notAvailable: 'N/A',
  },
});
