/** Words of the bars above the screens: English over the dashboard, Turkish over the administration. */
export const dashboardTexts = {
  navigation: 'Main',
  wsiViewer: 'WSI Viewer',
  adminPanel: 'Admin Panel',
  profile: 'Profile',
  logout: 'Logout',
  loggedOut: 'Successfully logged out.',
};

export const adminTexts = {
  navigation: 'Yönetim sayfaları',
  adminDashboard: 'Yönetim',
  users: 'Kullanıcılar',
  audit: 'Denetim Kaydı',
  peopleWait: (count: number) => `${count} kişi onay bekliyor`,
  datasets: 'Veri Kümeleri',
  requestsWait: (count: number) => `${count} istek yanıt bekliyor`,
  backToDashboard: 'Panele Dön',
  badge: 'Admin',
  profile: 'Profil',
  logout: 'Çıkış Yap',
};
