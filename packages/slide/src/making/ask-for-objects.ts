/** The object store as a making process knows it: whoever started the process reads for it. */
import type { ObjectReader } from '../source/object-reader.ts';
import type { ObjectFacts, StoredObject } from '../source/object-store.ts';
import { errorOf } from './maker-failure.ts';
import type { MakerQuestion, ObjectQuestion, QuestionReply } from './maker-message.ts';

/** Of one question, so that a long read holds nobody up. */
export const MOST_ASKED_BYTES = 4 * 2 ** 20;

export interface AskedObjects extends ObjectReader {
  /** Hears the answers. */
  hear(reply: QuestionReply): void;
}

export function askForObjects(send: (question: MakerQuestion) => void): AskedObjects {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let questions = 0;

  function ask(question: ObjectQuestion): Promise<unknown> {
    const questionId = questions++;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(questionId, answer);
    send({ questionId, question });
    return answer.promise;
  }

  return {
    hear(reply) {
      const asker = waiting.get(reply.questionId);
      waiting.delete(reply.questionId);
      if ('value' in reply) asker?.resolve(reply.value);
      else asker?.reject(errorOf(reply.failure));
    },
    head: async (key) => (await ask({ kind: 'head', key })) as ObjectFacts,
    list: async (prefix) => (await ask({ kind: 'list', prefix })) as readonly StoredObject[],
    async readInto({ key, size, etag }, target, at, offset, length, signal) {
      for (let done = 0; done < length; done += MOST_ASKED_BYTES) {
        signal?.throwIfAborted();
        const part = Math.min(MOST_ASKED_BYTES, length - done);
        const object = { key, size, etag };
        target.set(
          (await ask({ kind: 'read', object, offset: offset + done, length: part })) as Uint8Array,
          at + done,
        );
      }
      signal?.throwIfAborted();
    },
  };
}
