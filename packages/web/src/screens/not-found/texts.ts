export const texts = {
  heading: 'Sayfa Bulunamadı',
  explanation: 'Aradığınız sayfa bulunamadı. Taşınmış ya da silinmiş olabilir.',
  home: 'Ana sayfaya dön',
};
