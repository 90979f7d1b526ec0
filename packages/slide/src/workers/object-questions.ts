/** Answers the questions of render processes for objects. A process may read only objects that its current job may need. */
import type { OptionalObjectReader } from '../location/open-slide-files.ts';
import { SlideError } from '../model/slide.ts';
import { checkRange } from '../source/byte-source.ts';
import type { ObjectQuestion, QuestionReply, RenderJob } from './messages.ts';
import { MAX_BYTES_PER_QUESTION } from './object-client.ts';
import { failureOf } from './worker-failure.ts';

/** The failure for errors that are not a SlideError. */
const readFailure = { code: 'STORE_UNAVAILABLE', message: 'Reading from object storage failed' } as const;

/**
 * Answers one question.
 *
 * @param job the current job of the process; null when it has none, in which case every question is rejected
 * @param objects reads from object storage; null when none is configured
 * @returns the reply to send to the process; failures are replies too
 */
export async function answerObjectQuestion(
  questionId: number,
  question: ObjectQuestion,
  job: RenderJob | null,
  objects: OptionalObjectReader,
): Promise<QuestionReply> {
  try {
    if (!objects) throw new SlideError('STORE_UNAVAILABLE', 'No object storage is configured');
    if (job === null || !belongsToJob(job, question)) {
      throw new SlideError(
        'FILE_MISSING',
        'The object does not belong to the slide that the render process reads',
      );
    }
    switch (question.kind) {
      case 'head':
        return { questionId, value: await objects.head(question.key) };
      case 'list':
        return { questionId, value: await objects.list(question.prefix) };
      case 'read': {
        const { object, offset, length } = question;
        if (length > MAX_BYTES_PER_QUESTION) {
          throw new SlideError(
            'LIMIT_EXCEEDED',
            `A question may read at most ${MAX_BYTES_PER_QUESTION} bytes`,
          );
        }
        checkRange(offset, length, object.size);
        const value = new Uint8Array(length);
        await objects.readInto(object, value, 0, offset, length);
        return { questionId, value };
      }
    }
  } catch (error) {
    return { questionId, failure: failureOf(error, readFailure) };
  }
}

/**
 * Whether the job may read the object. The job of a slide may read all objects in the folder of its main object and in
 * the folders below it; a grouping job may read those in its folder and in the folders below it.
 */
function belongsToJob(job: RenderJob, question: ObjectQuestion): boolean {
  const { path, isObject } = job.kind === 'group' ? job.folder : job.location;
  if (!isObject) return false;
  // The ETag becomes a header of the request to object storage, so it may contain only characters that are safe in headers.
  if (question.kind === 'read' && !/^[!#-~]{1,256}$/.test(question.object.etag)) return false;
  // The path of a grouping job is the folder itself, '' for the root; the path of any other job is the main object.
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
