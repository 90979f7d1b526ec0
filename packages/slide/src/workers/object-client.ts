/** Reads objects in a render process by asking the server process for them (`ObjectQuestion`). */
import type { ObjectReader } from '../object-storage/object-reader.ts';
import type { ObjectFacts, StoredObject } from '../object-storage/object-store.ts';
import type { ObjectQuestion, QuestionReply, WorkerQuestion } from './messages.ts';
import { errorOf } from './worker-failure.ts';

/** Maximum bytes that one question reads, so that a long read does not block others. */
export const MAX_REQUEST_BYTES = 4 * 2 ** 20;

export interface ObjectClient extends ObjectReader {
  /** Handles a reply of the server process. */
  handleReply(reply: QuestionReply): void;
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
    handleReply(reply) {
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
        const partLength = Math.min(MAX_REQUEST_BYTES, length - done);
        const object = { key, size, etag };
        const part = await ask({ kind: 'read', object, offset: offset + done, length: partLength });
        target.set(part as Uint8Array, at + done);
      }
      signal?.throwIfAborted();
    },
  };
}
