/** Tests of the admin dashboard. They find elements by Turkish texts, the default language of these screens. */
import { screen, within } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { account } from '../../testing/accounts.ts';
import { openApp } from '../../testing/open-app.tsx';
import { errorResponse } from '../../testing/stub-api.ts';

const admin = account({ role: 'admin' });
const statistics = {
  usersByStatus: { pending: 3, active: 1245, suspended: 1, deactivated: 2 },
  slides: 15_230,
  datasets: 12,
  storedBytes: 12_400_000_000,
  openImageSessions: 7,
  days: [
    { day: '2026-11-20', signIns: 30, openedSlides: 0 },
    { day: '2026-11-21', signIns: 12, openedSlides: 1203 },
  ],
};

describe('the admin dashboard', () => {
  it('welcomes the administrator and links to user management', async () => {
    openApp('/admin', { signedInAs: admin, api: { 'GET /admin/statistics': statistics } });
    await screen.findByRole('heading', { name: 'Hoş geldiniz, İpek Işık' });
    const card = within(screen.getByRole('region', { name: 'Kullanıcı Yönetimi' }));
    expect(card.getByRole('link').getAttribute('href')).toBe('/admin/users');
  });

  it('shows the current statistics, and says that more statistics will follow', async () => {
    openApp('/admin', { signedInAs: admin, api: { 'GET /admin/statistics': statistics } });
    const card = within(await screen.findByRole('region', { name: 'Sistem İstatistikleri' }));
    await card.findByText('15.230');
    // Each text is a label followed by its number.
    const figures = card.getAllByRole('term').map((label) => label.parentElement?.textContent);
    expect(figures).toEqual([
      'Onay bekleyen hesap3',
      'Aktif hesap1.245',
      'Askıya alınmış hesap1',
      'Devre dışı hesap2',
      'Slayt15.230',
      'Veri kümesi12',
      'Slaytların boyutu12,4 GB',
      'Açık görüntü oturumu7',
    ]);
    card.getByText('Daha fazla istatistik yakında.');
  });

  it('plots the sign-ins and opened slides per day, and requests days in the time zone of the browser', async () => {
    const { calls } = openApp('/admin', { signedInAs: admin, api: { 'GET /admin/statistics': statistics } });
    const plots = await screen.findAllByRole('figure');
    const totals = plots.map((plot) => within(plot).getByText(/^[\d.]+$/, { selector: 'span' }).textContent);
    expect(totals).toEqual(['42', '1.203']); // sign-ins: 30 + 12; opened slides: 0 + 1203
    screen.getByRole('img', { name: 'Son 30 gün: açılan slayt, günlere göre' });
    const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
    expect(calls.find(({ name }) => name === 'GET /admin/statistics')?.query).toEqual({ zone: timeZone });
  });

  it('links to the audit log', async () => {
    openApp('/admin', { signedInAs: admin, api: { 'GET /admin/statistics': statistics } });
    const card = within(await screen.findByRole('region', { name: 'Denetim Kaydı' }));
    expect(card.getByRole('link').getAttribute('href')).toBe('/admin/audit');
  });

  it('shows an error when the statistics cannot be loaded, and still says that more statistics will follow', async () => {
    openApp('/admin', {
      signedInAs: admin,
      api: { 'GET /admin/statistics': errorResponse('unavailable') },
    });
    await screen.findByText('İstatistikler yüklenemedi.');
    screen.getByText('Daha fazla istatistik yakında.');
  });
});
