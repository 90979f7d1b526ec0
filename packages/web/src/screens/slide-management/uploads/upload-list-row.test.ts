/**
 * Tests of the upload list in Turkish, the default language. States: Gönderiliyor (sending), Sırada (waiting), Duraklatıldı (paused),
 * Gönderilmedi (not sent), Yarım kaldı (unfinished), Sunucu denetliyor (the server is checking), Okunuyor (being read), Hazır (ready).
 */
import type { SlideUpload } from '@lamina/contract';
import { describe, expect, it } from 'vitest';
import { ResponseError } from '../../../api/client.ts';
import { type UploadListRow, uploadListRowsOf } from './upload-list-row.ts';
import type { LocalUpload } from './upload-queue.ts';

/** When all uploads in these tests began. */
const begun_at = '2026-11-21T10:00:00.000Z';
const oneSecondLater = Date.parse(begun_at) + 1000;
const twoMinutesLater = Date.parse(begun_at) + 120_000;

/** Returns an upload as the server reports it: received completely, no slide found yet. */
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
  last_progress_at: begun_at,
  images: [],
  ...changes,
});

/** Returns an upload that this browser tab is sending. */
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
  failure: null,
  canResume: true,
  bytesPerSecond: null,
  uploadId: 'u1',
  ...changes,
});

const uploadedImage = (status: 'pending' | 'ready') => ({
  id: status,
  file_name: 'a.svs',
  status,
  error: null,
});
const failedImage = {
  id: 'failed',
  file_name: 'b.svs',
  status: 'failed',
  error: 'It is damaged.',
  error_code: 'FILE_CORRUPT',
} as const;

/** Returns state, detail and actions of each row, one second after the uploads began. */
const rowsAfterOneSecond = (localUploads: readonly LocalUpload[], serverUploads: readonly SlideUpload[]) =>
  uploadListRowsOf(localUploads, serverUploads, oneSecondLater).map(({ state, detail, actions }) => [
    state,
    detail,
    actions,
  ]);

describe('uploadListRowsOf (computes the rows of the upload list, with Turkish texts)', () => {
  it.each<[string, Partial<SlideUpload>, string, UploadListRow['detail']]>([
    [
      '(unfinished) when files are missing',
      { state: 'open', checked_count: 0 },
      'Yarım kaldı',
      'Sürdürmek için aynı dosyaları yeniden seçin.',
    ],
    ['(the server is checking) when all files are received', { state: 'open' }, 'Sunucu denetliyor', null],
    [
      '(being moved) when the files are being moved to the dataset',
      { state: 'placing' },
      'Kataloğa alınıyor',
      null,
    ],
    ['(being read) when no slide is found yet', { images: [] }, 'Okunuyor', null],
    [
      '(being read) when one of two slides is not read yet',
      { images: [uploadedImage('ready'), uploadedImage('pending')] },
      'Okunuyor',
      null,
    ],
    ['(ready) when its slide is ready', { images: [uploadedImage('ready')] }, 'Hazır', null],
    [
      '(2 slides ready) when both slides are ready',
      { images: [uploadedImage('ready'), uploadedImage('ready')] },
      '2 slayt hazır',
      null,
    ],
    [
      '(slide cannot be read) when one of two slides cannot be read',
      { images: [uploadedImage('ready'), failedImage] },
      'Slayt okunamadı',
      { error: 'It is damaged.', code: 'FILE_CORRUPT' },
    ],
    [
      '(not sent) when a file of this name exists',
      { state: 'open', problem: 'exists' },
      'Gönderilmedi',
      'Bu adda bir dosya veya klasör bu arada oluşturulmuş; üzerine yazılmadı.',
    ],
  ])(
    'for an upload that was started in another tab, returns the state "$2" $0',
    (_, changes, state, detail) => {
      const [row] = uploadListRowsOf([], [serverUpload(changes)], oneSecondLater);
      expect(row).toMatchObject({ state, detail });
    },
  );

  it('offers only the action cancel, in every tab, for an upload that the server could not move to the slide storage', () => {
    const upload = serverUpload({ state: 'placing', problem: 'storage' });
    const [rowOfOtherTab] = uploadListRowsOf([], [upload], oneSecondLater);
    const [rowOfSender] = uploadListRowsOf(
      [localUpload({ uploadId: upload.id, phase: 'sent' })],
      [upload],
      oneSecondLater,
    );
    for (const row of [rowOfOtherTab, rowOfSender]) {
      expect(row).toMatchObject({
        state: 'Gönderilmedi',
        detail: 'Kataloğa taşınamadı; sunucu yeniden deneyecek.',
        actions: ['cancel'],
      });
    }
  });

  it('says that an upload contains no readable slide when the server has found none within a minute', () => {
    const [row] = uploadListRowsOf([], [serverUpload()], twoMinutesLater);
    expect(row?.state).toBe('İçinde okunabilir bir slayt bulunamadı');
  });

  it('says, for a minute after the completion of an upload, that the upload is being read, however long the upload took', () => {
    const completedNow = new Date(twoMinutesLater - 1000).toISOString();
    const [row] = uploadListRowsOf([], [serverUpload({ last_progress_at: completedNow })], twoMinutesLater);
    expect(row?.state).toBe('Okunuyor');
  });

  it.each<[string, Partial<LocalUpload>, string, readonly string[], string | null]>([
    [
      '(sending), pause and cancel while an upload of this tab is sent',
      {},
      'Gönderiliyor',
      ['pause', 'cancel'],
      null,
    ],
    [
      '(waiting), pause and cancel while an upload of this tab waits',
      { phase: 'waiting' },
      'Sırada',
      ['pause', 'cancel'],
      null,
    ],
    [
      '(paused), resume and cancel for a paused upload of this tab',
      { phase: 'paused' },
      'Duraklatıldı',
      ['resume', 'cancel'],
      null,
    ],
    [
      '(not sent), resume and cancel for a rejected upload of this tab',
      {
        phase: 'rejected',
        failure: { error: new ResponseError('storage_full', 'Yer yok.'), language: 'tr' },
      },
      'Gönderilmedi',
      ['resume', 'cancel'],
      'Yer yok.',
    ],
  ])('returns the state and the actions of an upload: "$2" $0', (_, changes, state, actions, detail) => {
    const open = serverUpload({ state: 'open', checked_count: 0 });
    expect(rowsAfterOneSecond([localUpload(changes)], [open])).toEqual([[state, detail, actions]]);
  });

  it('returns a single row for an unfinished upload that the server lists and this tab is about to resume', () => {
    const open = serverUpload({ state: 'open', checked_count: 0 });
    const waiting = localUpload({ phase: 'waiting', uploadId: null });
    expect(rowsAfterOneSecond([waiting], [open])).toEqual([['Sırada', null, ['pause', 'cancel']]]);
  });

  it('returns the state on the server for an upload of which this tab has sent all files', () => {
    const sent = localUpload({ phase: 'sent', sentBytes: 100 });
    expect(rowsAfterOneSecond([sent], [])).toEqual([['Sunucu denetliyor', null, []]]);
    expect(rowsAfterOneSecond([sent], [serverUpload({ images: [uploadedImage('ready')] })])).toEqual([
      ['Hazır', null, ['hide']],
    ]);
    const damaged = serverUpload({ state: 'open', checked_count: 0, problem: 'checksum' });
    expect(rowsAfterOneSecond([sent], [damaged])).toEqual([
      ['Gönderilmedi', 'Gelen dosya gönderilenle aynı değil. Yeniden gönderin.', ['sendAgain', 'cancel']],
    ]);
  });

  it('offers no resume action for an upload that the server rejected because its name is taken', () => {
    const actionsOf = (canResume: boolean) =>
      uploadListRowsOf([localUpload({ phase: 'rejected', canResume, uploadId: null })], [], oneSecondLater)[0]
        ?.actions;
    expect(actionsOf(true)).toEqual(['resume', 'cancel']);
    expect(actionsOf(false)).toEqual(['cancel']);
  });
});
