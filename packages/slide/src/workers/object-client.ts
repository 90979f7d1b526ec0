/** The client with which a render process reads objects in object storage: it asks the server process (`ObjectQuestion`). */
import type { ObjectReader } from '../object-storage/object-reader.ts';
import type { ObjectMetadata, StoredObject } from '../object-storage/object-store.ts';
import type { ObjectQuestion, QuestionReply, WorkerQuestion } from './messages.ts';
import { errorOf } from './worker-failure.ts';

/** Maximum bytes that one question reads, so that a long read does not block other questions. */
export const MAX_BYTES_PER_QUESTION = 4 * 2 ** 20;

export interface ObjectClient extends ObjectReader {
  /** Handles a reply of the server process. */
  handleReply(reply: QuestionReply): void;
}

/** Returns a client that sends its questions through `send`. */
export function createObjectClient(send: (question: WorkerQuestion) => void): ObjectClient {
  const pendingReplies = new Map<number, PromiseWithResolvers<unknown>>();
  let nextQuestionId = 0;

  function sendQuestion(question: ObjectQuestion): Promise<unknown> {
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
    head: async (key) => (await sendQuestion({ kind: 'head', key })) as ObjectMetadata,
    list: async (prefix) => (await sendQuestion({ kind: 'list', prefix })) as readonly StoredObject[],
    async readInto({ key, size, etag }, target, targetStart, offset, length, signal) {
      const object = { key, size, etag };
      for (let readBytes = 0; readBytes < length; readBytes += MAX_BYTES_PER_QUESTION) {
        signal?.throwIfAborted();
        const range = {
          offset: offset + readBytes,
          length: Math.min(MAX_BYTES_PER_QUESTION, length - readBytes),
        };
        const bytes = await sendQuestion({ kind: 'read', object, ...range });
        target.set(bytes as Uint8Array, targetStart + readBytes);
      }
      signal?.throwIfAborted();
    },
  };
}
