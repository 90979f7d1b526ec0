import { beforeEach, describe, expect, it } from 'vitest';
import { createObjectReader, type ObjectReader } from '../source/object-reader.ts';
import { memoryStore } from '../testing/memory-store.ts';
import { answerAboutObjects } from './answer-about-objects.ts';
import { MOST_ASKED_BYTES } from './ask-for-objects.ts';
import type { MakerJob, ObjectQuestion } from './maker-message.ts';

const bytes = new Uint8Array(100).fill(7);
let objects: ObjectReader;
beforeEach(() => {
  const store = memoryStore({ 'Set/a.vsi': bytes, 'Set/_a_/b.ets': bytes, 'Other/c.svs': bytes });
  objects = createObjectReader({ store, maxMemoryBytes: 2 ** 20, shelf: null });
});

const ofSlide: MakerJob = { kind: 'inspect', location: { path: 'Set/a.vsi', isObject: true } };
const ofFolder: MakerJob = { kind: 'group', folder: { path: 'Set', isObject: true }, names: [], folders: [] };
const ofFile: MakerJob = { kind: 'inspect', location: { path: '/slides/Set/a.vsi' } };
const head = (key: string): ObjectQuestion => ({ kind: 'head', key });
const list = (prefix: string): ObjectQuestion => ({ kind: 'list', prefix });
const read = (key: string, etag = '123'): ObjectQuestion => ({
  kind: 'read',
  object: { key, size: 100, etag },
  offset: 0,
  length: 10,
});
const ask = (question: ObjectQuestion, job: MakerJob | null) => answerAboutObjects(1, question, job, objects);

describe('a making process', () => {
  it('is told of its slide and what lies beside and below it', async () => {
    expect(await ask(head('Set/a.vsi'), ofSlide)).toMatchObject({ questionId: 1, value: { size: 100 } });
    expect(await ask(list('Set/_a_/'), ofSlide)).toMatchObject({ value: [{ key: 'Set/_a_/b.ets' }] });
    const { etag } = await objects.head('Set/_a_/b.ets');
    expect(await ask(read('Set/_a_/b.ets', etag), ofSlide)).toMatchObject({ value: bytes.subarray(0, 10) });
    expect(await ask(head('Set/a.vsi'), ofFolder)).toMatchObject({ value: { size: 100 } });
  });

  it.each<[string, ObjectQuestion, MakerJob | null]>([
    ['another folder', head('Other/c.svs'), ofSlide],
    ['another folder, to read it', read('Other/c.svs'), ofSlide],
    ['everything there is', list(''), ofSlide],
    ['a folder whose name only begins alike', list('Settings/'), ofFolder],
    ['an object, while it looks at a file', head('Set/a.vsi'), ofFile],
    ['an object, while it has nothing to do', head('Set/a.vsi'), null],
    ['an object by an ETag that would be another header', read('Set/a.vsi', '1"\r\nX-Evil: 1'), ofSlide],
  ])('is not told of %s', async (_, question, job) => {
    expect(await ask(question, job)).toMatchObject({ failure: { code: 'FILE_MISSING' } });
  });

  it('is given no more at once than it needs', async () => {
    const question = { ...read('Set/a.vsi'), length: MOST_ASKED_BYTES + 1 } as ObjectQuestion;
    expect(await ask(question, ofSlide)).toMatchObject({ failure: { code: 'LIMIT_EXCEEDED' } });
  });

  it('is told where there is no store', async () => {
    expect(await answerAboutObjects(1, head('Set/a.vsi'), ofSlide, null)).toMatchObject({
      failure: { code: 'STORE_UNAVAILABLE' },
    });
  });

  it('brings nobody down by what it asks', async () => {
    const nonsense = { kind: 'head', key: 5 } as unknown as ObjectQuestion;
    expect(await ask(nonsense, ofSlide)).toMatchObject({ failure: { code: 'STORE_UNAVAILABLE' } });
  });
});
