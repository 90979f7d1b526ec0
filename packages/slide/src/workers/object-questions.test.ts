import { beforeEach, describe, expect, it } from 'vitest';
import { createObjectReader, type ObjectReader } from '../object-storage/object-reader.ts';
import { memoryStore } from '../testing/memory-store.ts';
import type { ObjectQuestion, RenderJob } from './messages.ts';
import { MAX_BYTES_PER_QUESTION } from './object-client.ts';
import { answerObjectQuestion } from './object-questions.ts';

const bytes = new Uint8Array(100).fill(7);
let objects: ObjectReader;
beforeEach(() => {
  const store = memoryStore({ 'Set/a.vsi': bytes, 'Set/_a_/b.ets': bytes, 'Other/c.svs': bytes });
  objects = createObjectReader({ store, maxMemoryBytes: 2 ** 20, diskCache: null });
});

const slideJob: RenderJob = { kind: 'inspect', location: { path: 'Set/a.vsi', isObject: true } };
const groupJob: RenderJob = {
  kind: 'group',
  folder: { path: 'Set', isObject: true },
  names: [],
  folders: [],
};
const localFileJob: RenderJob = { kind: 'inspect', location: { path: '/slides/Set/a.vsi' } };
const head = (key: string): ObjectQuestion => ({ kind: 'head', key });
const list = (prefix: string): ObjectQuestion => ({ kind: 'list', prefix });
const read = (key: string, etag = '123'): ObjectQuestion => ({
  kind: 'read',
  object: { key, size: 100, etag },
  offset: 0,
  length: 10,
});
const ask = (question: ObjectQuestion, job: RenderJob | null) =>
  answerObjectQuestion(1, question, job, objects);

describe('a render process that requests objects of object storage from the server', () => {
  it('can read the object of its slide, and objects in the same folder and its subfolders', async () => {
    expect(await ask(head('Set/a.vsi'), slideJob)).toMatchObject({ questionId: 1, value: { size: 100 } });
    expect(await ask(list('Set/_a_/'), slideJob)).toMatchObject({ value: [{ key: 'Set/_a_/b.ets' }] });
    const { etag } = await objects.head('Set/_a_/b.ets');
    expect(await ask(read('Set/_a_/b.ets', etag), slideJob)).toMatchObject({ value: bytes.subarray(0, 10) });
    expect(await ask(head('Set/a.vsi'), groupJob)).toMatchObject({ value: { size: 100 } });
  });

  it.each<[string, ObjectQuestion, RenderJob | null]>([
    ['the size of an object in another folder', head('Other/c.svs'), slideJob],
    ['the bytes of an object in another folder', read('Other/c.svs'), slideJob],
    ['the list of all objects', list(''), slideJob],
    ['a folder whose name begins with the name of its own folder', list('Settings/'), groupJob],
    ['an object, while its job reads a local file', head('Set/a.vsi'), localFileJob],
    ['an object, while it has no job', head('Set/a.vsi'), null],
    ['an object with an ETag that would inject a header', read('Set/a.vsi', '1"\r\nX-Evil: 1'), slideJob],
  ])('gets FILE_MISSING when it requests %s', async (_, question, job) => {
    expect(await ask(question, job)).toMatchObject({ failure: { code: 'FILE_MISSING' } });
  });

  it('gets LIMIT_EXCEEDED when it requests more bytes than one message may request', async () => {
    const question = { ...read('Set/a.vsi'), length: MAX_BYTES_PER_QUESTION + 1 } as ObjectQuestion;
    expect(await ask(question, slideJob)).toMatchObject({ failure: { code: 'LIMIT_EXCEEDED' } });
  });

  it('gets STORE_UNAVAILABLE when no object storage is configured', async () => {
    expect(await answerObjectQuestion(1, head('Set/a.vsi'), slideJob, null)).toMatchObject({
      failure: { code: 'STORE_UNAVAILABLE' },
    });
  });

  it('gets STORE_UNAVAILABLE for a malformed message, which does not crash the server', async () => {
    const nonsense = { kind: 'head', key: 5 } as unknown as ObjectQuestion;
    expect(await ask(nonsense, slideJob)).toMatchObject({ failure: { code: 'STORE_UNAVAILABLE' } });
  });
});
