import { describe, expect, it } from 'vitest';
import { AppError, errorText, reasonText } from './app-error.ts';
import { reasonTexts } from './error-reasons.ts';

describe('AppError (an error of the API)', () => {
  it('has a technical message for logs: the code, the reason and the waiting time', () => {
    const error = new AppError('rate_limited', { reason: 'too_many_attempts', retryAfterSeconds: 30 });
    expect(error.message).toBe('rate_limited: too_many_attempts (retry after 30 s)');
    expect(new AppError('not_found').message).toBe('not_found');
  });

  it('has the non-enumerable property `detail`, which loggers therefore do not write', () => {
    const error = new AppError('invalid_request', { reason: 'dataset_not_restricted', name: 'Gizli' });
    expect(JSON.stringify({ ...error })).not.toContain('Gizli');
    expect(error.detail.name).toBe('Gizli');
  });
});

describe('errorText (text for the user about an error)', () => {
  it.each([
    [new AppError('not_found'), 'Bulunamadı.', 'Not found.'],
    [
      new AppError('rate_limited', { reason: 'too_many_attempts', retryAfterSeconds: 45 }),
      'Çok fazla deneme yapıldı. Lütfen 45 saniye sonra yeniden deneyin.',
      'Too many attempts. Please try again in 45 seconds.',
    ],
    [
      new AppError('rate_limited', { reason: 'too_many_attempts', retryAfterSeconds: 60 }),
      'Çok fazla deneme yapıldı. Lütfen 1 dakika sonra yeniden deneyin.',
      'Too many attempts. Please try again in 1 minute.',
    ],
    [
      new AppError('invalid_request', { reason: 'password_too_short', field: 'new_password', limit: 8 }),
      'Yeni şifre en az 8 karakter olmalı.',
      'The new password must have at least 8 characters.',
    ],
    [
      new AppError('invalid_request', {
        reason: 'dataset_not_restricted',
        name: 'a {field} $& b',
        field: 'x',
      }),
      '"a {field} $& b" kısıtlı bir veri kümesi değil.',
      '"a {field} $& b" is not a restricted dataset.',
    ],
    [
      new AppError('invalid_request', { reason: 'catalogue_file_too_many_rows', limit: 100_000 }),
      'Dosyada 100.000 satırdan fazlası var. Lütfen bölüp ayrı ayrı yükleyin.',
      'The file has more than 100,000 lines. Please split it and upload the parts.',
    ],
  ])('returns for the error %s the English text "$2", and its Turkish translation', (error, tr, en) => {
    expect(errorText(error, 'tr')).toBe(tr);
    expect(errorText(error, 'en')).toBe(en);
  });
});

describe('reasonText (text for the user about the reason of an error)', () => {
  it.each(Object.keys(reasonTexts))(
    'returns, for the reason %s, texts that contain no { or } when placeholders such as {limit} have no values',
    (reason) => {
      for (const language of ['tr', 'en'] as const) {
        expect(reasonText(reason as keyof typeof reasonTexts, language)).not.toMatch(/[{}]/);
      }
    },
  );
});
