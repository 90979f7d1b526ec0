/** Object storage as a render process sees it: the server process reads the objects on its behalf. */
import type { ObjectReader } from '../object-storage/object-reader.ts';
import type { ObjectFacts, StoredObject } from '../object-storage/object-store.ts';
import type { ObjectQuestion, QuestionReply, WorkerQuestion } from './messages.ts';
import { errorOf } from './worker-failure.ts';

/** Bytes of one question at most, so that a long read does not block others. */
export const MAX_REQUEST_BYTES = 4 * 2 ** 20;

export interface ObjectClient extends ObjectReader {
  /** Handles a reply of the server process. */
  hear(reply: QuestionReply): void;
}

/** Returns a client that sends its questions through `send`. */
export function createObjectClient(send: (question: WorkerQuestion) => void): ObjectClient {
  const pendingReplies = new Map<number, PromiseWithResolvers<unknown>>();
  let nextQuestionId = 0;

  function ask(question: ObjectQuestion): Promise<unknown> {
    const questionId = nextQuestionId++;
    const reply = Promise.withResolvers<unknown>();
    pendingReplies.set(questionId, reply);
    send({ questionId, question });
    return reply.promise;
  }

  return {
    hear(reply) {
      const pending = pendingReplies.get(reply.questionId);
      pendingReplies.delete(reply.questionId);
      if ('value' in reply) pending?.resolve(reply.value);
      else pending?.reject(errorOf(reply.failure));
    },
    head: async (key) => (await ask({ kind: 'head', key })) as ObjectFacts,
    list: async (prefix) => (await ask({ kind: 'list', prefix })) as readonly StoredObject[],
    async readInto({ key, size, etag }, target, at, offset, length, signal) {
      for (let done = 0; done < length; done += MAX_REQUEST_BYTES) {
        signal?.throwIfAborted();
        const part = Math.min(MAX_REQUEST_BYTES, length - done);
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
