export const texts = {
  heading: 'Beklenmeyen bir hata oluştu.',
  explanation: 'Bu ekran gösterilemedi. Sayfayı yenilemek çoğu zaman yeterli olur.',
  reload: 'Sayfayı Yenile',
};
