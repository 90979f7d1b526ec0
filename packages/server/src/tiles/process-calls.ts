/**
 * Remote procedure calls between two processes of the product, over the IPC channel of a child process: a name, arguments
 * that can be cloned, a result or a SlideError, and a caller that may cancel.
 */
import { SlideError, type SlideErrorCode } from '@lamina/slide';

/** Functions that one process runs for others. Arguments and results are cloned: bytes, numbers, texts and plain objects. */
export type CallTable = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => Promise<unknown>>>;

type ArgsOf<F> = F extends (signal: AbortSignal, ...args: infer A) => unknown ? A : never;
type AnswerOf<F> = F extends (signal: AbortSignal, ...args: never[]) => Promise<infer R> ? R : never;

/** One end of the channel: `process` in the child, the child in its parent. */
export interface Channel {
  send?(message: unknown, sent: (error: Error | null) => void): boolean;
  on(event: 'message', heard: (message: unknown) => void): unknown;
}

interface Asked {
  readonly kind: 'call';
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
interface Cancelled {
  readonly kind: 'cancel';
  readonly id: number;
}
type Answered = {
  readonly kind: 'answer';
  readonly id: number;
} & (
  | { readonly value: unknown }
  | { readonly failure: { readonly code: SlideErrorCode; readonly message: string; readonly detail: string } }
);

function isOurs(message: unknown): message is Asked | Cancelled | Answered {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return kind === 'call' || kind === 'cancel' || kind === 'answer';
}

export interface Caller<T extends CallTable> {
  /** @throws SlideError what the other process throws; DECODE_FAILED when no process answers; the signal's reason */
  call<K extends keyof T & string>(
    name: K,
    args: ArgsOf<T[K]>,
    signal?: AbortSignal,
  ): Promise<AnswerOf<T[K]>>;
}

export function createCaller<T extends CallTable>(channel: Channel): Caller<T> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let calls = 0;

  function send(message: Asked | Cancelled, id: number): void {
    const onSent = (error: Error | null) => {
      if (error === null) return;
      waiting.get(id)?.reject(new SlideError('DECODE_FAILED', 'No other process answers', { cause: error }));
      waiting.delete(id);
    };
    channel.send?.(message, onSent);
  }

  channel.on('message', (message) => {
    if (!isOurs(message) || message.kind !== 'answer') return;
    const caller = waiting.get(message.id);
    waiting.delete(message.id);
    if ('value' in message) caller?.resolve(message.value);
    else caller?.reject(errorOf(message.failure));
  });

  return {
    async call<K extends keyof T & string>(name: K, args: ArgsOf<T[K]>, signal?: AbortSignal) {
      signal?.throwIfAborted();
      const id = calls++;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(id, { resolve, reject });
      const cancel = () => {
        waiting.delete(id);
        send({ kind: 'cancel', id }, id);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      send({ kind: 'call', id, name, args }, id);
      try {
        return (await promise) as AnswerOf<T[K]>;
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
  };
}

/** @param unexpected receives errors that are no SlideError; the caller gets DECODE_FAILED without details */
export function answerCalls(channel: Channel, table: CallTable, unexpected: (error: unknown) => void): void {
  const underWay = new Map<number, AbortController>();

  async function answer({ id, name, args }: Asked): Promise<Answered> {
    const controller = new AbortController();
    underWay.set(id, controller);
    try {
      const work = table[name] as
        | ((signal: AbortSignal, ...args: readonly unknown[]) => Promise<unknown>)
        | undefined;
      if (work === undefined) throw new SlideError('DECODE_FAILED', `The process has no call ${name}`);
      return { kind: 'answer', id, value: await work(controller.signal, ...args) };
    } catch (error) {
      if (!(error instanceof SlideError) && !controller.signal.aborted) unexpected(error);
      return { kind: 'answer', id, failure: failureOf(error) };
    } finally {
      underWay.delete(id);
    }
  }

  channel.on('message', (message) => {
    if (!isOurs(message)) return;
    if (message.kind === 'cancel') underWay.get(message.id)?.abort();
    // The answer is lost when the calling process has ended meanwhile.
    else if (message.kind === 'call')
      void answer(message).then((answered) => channel.send?.(answered, () => {}));
  });
}

function failureOf(error: unknown): { code: SlideErrorCode; message: string; detail: string } {
  if (!(error instanceof SlideError))
    return { code: 'DECODE_FAILED', message: 'The slide could not be read', detail: '' };
  const { code, message, cause } = error;
  return {
    code,
    message,
    detail: cause instanceof Error ? cause.message : typeof cause === 'string' ? cause : '',
  };
}

function errorOf({ code, message, detail }: ReturnType<typeof failureOf>): SlideError {
  return new SlideError(code, message, detail === '' ? {} : { cause: detail });
}
