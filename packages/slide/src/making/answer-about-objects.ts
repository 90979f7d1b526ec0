/** Reads objects for a making process: those of the slide it has been given, and no others. */
import { SlideError } from '../slide.ts';
import { checkRange } from '../source/byte-source.ts';
import type { Objects } from '../source/slide-place.ts';
import { MOST_ASKED_BYTES } from './ask-for-objects.ts';
import { failureOf } from './maker-failure.ts';
import type { MakerJob, ObjectQuestion, QuestionReply } from './maker-message.ts';

const unreadable = { code: 'STORE_UNAVAILABLE', message: 'The object store cannot be read' } as const;

/**
 * @param job what the process is doing; null: nothing, so it has nothing to ask
 * @returns what can be sent to it: a failure, too
 */
export async function answerAboutObjects(
  questionId: number,
  question: ObjectQuestion,
  job: MakerJob | null,
  objects: Objects,
): Promise<QuestionReply> {
  try {
    if (!objects) throw new SlideError('STORE_UNAVAILABLE', 'No object store is set up');
    if (job === null || !isOf(job, question)) {
      throw new SlideError('FILE_MISSING', 'This object is none of the slide');
    }
    switch (question.kind) {
      case 'head':
        return { questionId, value: await objects.head(question.key) };
      case 'list':
        return { questionId, value: await objects.list(question.prefix) };
      case 'read': {
        const { object, offset, length } = question;
        if (length > MOST_ASKED_BYTES) throw new SlideError('LIMIT_EXCEEDED', 'Too many bytes at once');
        checkRange(offset, length, object.size);
        const value = new Uint8Array(length);
        await objects.readInto(object, value, 0, offset, length);
        return { questionId, value };
      }
    }
  } catch (error) {
    return { questionId, failure: failureOf(error, unreadable) };
  }
}

/** A slide may be asked for what lies beside and below its leading object; a folder for what lies in it. */
function isOf(job: MakerJob, question: ObjectQuestion): boolean {
  const { path, isObject } = job.kind === 'group' ? job.folder : job.location;
  if (!isObject) return false;
  // It stands in a header of what is asked of the store.
  if (question.kind === 'read' && !/^[!#-~]{1,256}$/.test(question.object.etag)) return false;
  const folder = job.kind === 'group' && path !== '' ? `${path}/` : path.slice(0, path.lastIndexOf('/') + 1);
  return keyOf(question).startsWith(folder);
}

function keyOf(question: ObjectQuestion): string {
  switch (question.kind) {
    case 'head':
      return question.key;
    case 'list':
      return question.prefix;
    case 'read':
      return question.object.key;
  }
}
