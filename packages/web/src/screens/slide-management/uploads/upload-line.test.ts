import type { SlideUpload } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { uploadLinesOf } from './upload-line.ts';
import type { LocalUpload } from './upload-queue.ts';

const begun_at = '2026-11-21T10:00:00.000Z';
const oneSecondLater = Date.parse(begun_at) + 1000;
const twoMinutesLater = Date.parse(begun_at) + 120_000;

const serverUpload = (changes: Partial<SlideUpload> = {}): SlideUpload => ({
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
  ...changes,
});

const localUpload = (changes: Partial<LocalUpload> = {}): LocalUpload => ({
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
  ...changes,
});

const image = (status: 'pending' | 'ready' | 'failed', error: string | null = null) => ({
  id: status,
  file_name: 'a.svs',
  status,
  error,
});

/** Returns state, detail and actions of each line, one second after the uploads began. */
const linesSoonAfterStart = (local: readonly LocalUpload[], onServer: readonly SlideUpload[]) =>
  uploadLinesOf(local, onServer, oneSecondLater).map(({ state, detail, actions }) => [
    state,
    detail,
    actions,
  ]);

describe('uploadLinesOf', () => {
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
  ])('returns state and detail of an upload that is only on the server: %j', (changes, state, detail) => {
    const [line] = uploadLinesOf([], [serverUpload(changes)], oneSecondLater);
    expect(line).toMatchObject({ state, detail });
  });

  it('says that a folder contains no slide when none was found within a minute', () => {
    const [line] = uploadLinesOf([], [serverUpload()], twoMinutesLater);
    expect(line?.state).toBe('İçinde okunabilir bir slayt bulunamadı');
  });

  it.each<[Partial<LocalUpload>, string, readonly string[]]>([
    [{}, 'Gönderiliyor', ['pause', 'cancel']],
    [{ phase: 'waiting' }, 'Sırada', ['pause', 'cancel']],
    [{ phase: 'paused' }, 'Duraklatıldı', ['resume', 'cancel']],
    [{ phase: 'refused', message: 'Yer yok.' }, 'Gönderilmedi', ['resume', 'cancel']],
  ])('returns state and actions of an upload of this tab: %j', (changes, state, actions) => {
    const open = serverUpload({ state: 'open', checked_count: 0 });
    expect(linesSoonAfterStart([localUpload(changes)], [open])).toEqual([
      [state, changes.message ?? null, actions],
    ]);
  });

  it('returns one line, not two, for an unfinished upload that the server lists and this tab is about to resume', () => {
    const open = serverUpload({ state: 'open', checked_count: 0 });
    const waiting = localUpload({ phase: 'waiting', uploadId: null });
    expect(linesSoonAfterStart([waiting], [open])).toEqual([['Sırada', null, ['pause', 'cancel']]]);
  });

  it('returns the state that the server reports when this tab has sent all files', () => {
    const sent = localUpload({ phase: 'sent', sentBytes: 100 });
    expect(linesSoonAfterStart([sent], [])).toEqual([['Sunucu denetliyor', null, []]]);
    expect(linesSoonAfterStart([sent], [serverUpload({ images: [image('ready')] })])).toEqual([
      ['Hazır', null, ['hide']],
    ]);
    const damaged = serverUpload({ state: 'open', checked_count: 0, problem: 'checksum' });
    expect(linesSoonAfterStart([sent], [damaged])).toEqual([
      ['Gönderilmedi', 'Gelen dosya gönderilenle aynı değil. Yeniden gönderin.', ['sendAgain', 'cancel']],
    ]);
  });

  it('offers no resume for a refused upload whose name is taken', () => {
    const actionsOf = (canResume: boolean) =>
      uploadLinesOf([localUpload({ phase: 'refused', canResume, uploadId: null })], [], oneSecondLater)[0]
        ?.actions;
    expect(actionsOf(true)).toEqual(['resume', 'cancel']);
    expect(actionsOf(false)).toEqual(['cancel']);
  });
});
