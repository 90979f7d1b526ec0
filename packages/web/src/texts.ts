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
  notifications: 'Bildirimler',
  loading: 'Yükleniyor…',
  retry: 'Tekrar dene',
  sessionEnded: 'Oturumunuz sona erdi. Lütfen yeniden giriş yapın.',
};
