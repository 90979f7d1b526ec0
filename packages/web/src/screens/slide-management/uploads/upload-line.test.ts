import type { SlideUpload } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { linesOf } from './upload-line.ts';
import type { Sending } from './upload-queue.ts';

const begun_at = '2026-11-21T10:00:00.000Z';
const soon = Date.parse(begun_at) + 1000;

const upload = (is: Partial<SlideUpload> = {}): SlideUpload => ({
  id: 'u1',
  dataset: 'Böbrek',
  path: 'a.svs',
  is_folder: false,
  file_count: 1,
  checked_count: 1,
  size_bytes: 100,
  state: 'done',
  problem: null,
  begun_at,
  images: [],
  ...is,
});

const sending = (is: Partial<Sending> = {}): Sending => ({
  key: 'Böbrek/a.svs',
  dataset: 'Böbrek',
  path: 'a.svs',
  isFolder: false,
  fileCount: 1,
  sizeBytes: 100,
  phase: 'sending',
  sentFiles: 0,
  sentBytes: 40,
  currentFile: 'a.svs',
  message: null,
  canResume: true,
  bytesPerSecond: null,
  uploadId: 'u1',
  ...is,
});

const image = (status: 'pending' | 'ready' | 'failed', error: string | null = null) => ({
  id: status,
  file_name: 'a.svs',
  status,
  error,
});

const told = (...lines: ReturnType<typeof linesOf>) =>
  lines.map(({ state, detail, actions }) => [state, detail, actions]);

describe('the line of an upload', () => {
  it.each<[Partial<SlideUpload>, string, string | null]>([
    [{ state: 'open', checked_count: 0 }, 'Yarım kaldı', 'Sürdürmek için aynı dosyaları yeniden seçin.'],
    [{ state: 'open' }, 'Sunucu denetliyor', null],
    [{ state: 'placing' }, 'Kataloğa alınıyor', null],
    [{ images: [] }, 'Okunuyor', null],
    [{ images: [image('ready'), image('pending')] }, 'Okunuyor', null],
    [{ images: [image('ready')] }, 'Hazır', null],
    [{ images: [image('ready'), image('ready')] }, '2 slayt hazır', null],
    [{ images: [image('ready'), image('failed', 'It is damaged.')] }, 'Slayt okunamadı', 'It is damaged.'],
    [
      { state: 'open', problem: 'exists' },
      'Gönderilmedi',
      'Bu adda bir dosya veya klasör bu arada oluşmuş; üzerine yazılmadı.',
    ],
  ])('that the server knows alone: %j', (is, state, detail) => {
    expect(told(...linesOf([], [upload(is)], soon)).map(([first, second]) => [first, second])).toEqual([
      [state, detail],
    ]);
  });

  it('reports a folder without slides', () => {
    const [line] = linesOf([], [upload()], Date.parse(begun_at) + 120_000);
    expect(line?.state).toBe('İçinde okunabilir bir slayt bulunamadı');
  });

  it.each<[Partial<Sending>, string, readonly string[]]>([
    [{}, 'Gönderiliyor', ['pause', 'cancel']],
    [{ phase: 'waiting' }, 'Sırada', ['pause', 'cancel']],
    [{ phase: 'paused' }, 'Duraklatıldı', ['resume', 'cancel']],
    [{ phase: 'refused', message: 'Yer yok.' }, 'Gönderilmedi', ['resume', 'cancel']],
  ])('that is being sent: %j', (is, state, actions) => {
    const before = upload({ state: 'open', checked_count: 0 });
    expect(told(...linesOf([sending(is)], [before], soon))).toEqual([[state, is.message ?? null, actions]]);
  });

  it('appears once for an upload that is waiting to be resumed', () => {
    const before = upload({ state: 'open', checked_count: 0 });
    const again = sending({ phase: 'waiting', uploadId: null });
    expect(told(...linesOf([again], [before], soon))).toEqual([['Sırada', null, ['pause', 'cancel']]]);
  });

  it('shows the state of the server for a finished upload', () => {
    const sent = sending({ phase: 'sent', sentBytes: 100 });
    expect(told(...linesOf([sent], [], soon))).toEqual([['Sunucu denetliyor', null, []]]);
    expect(told(...linesOf([sent], [upload({ images: [image('ready')] })], soon))).toEqual([
      ['Hazır', null, ['hide']],
    ]);
    const damaged = upload({ state: 'open', checked_count: 0, problem: 'checksum' });
    expect(told(...linesOf([sent], [damaged], soon))).toEqual([
      ['Gönderilmedi', 'Gelen dosya gönderilenle aynı değil. Yeniden gönderin.', ['sendAgain', 'cancel']],
    ]);
  });
});

it('an upload whose name is taken cannot be resumed', () => {
  const actionsOf = (canResume: boolean) =>
    linesOf([sending({ phase: 'refused', canResume, uploadId: null })], [], soon)[0]?.actions;
  expect(actionsOf(true)).toEqual(['resume', 'cancel']);
  expect(actionsOf(false)).toEqual(['cancel']);
});
