/**
 * Remote procedure calls between the primary process and its serving processes, over the IPC channel of a child process. A
 * call has a name and arguments, and ends with a result or a SlideError. The caller may cancel it.
 */
import { SlideError, type SlideErrorCode } from '@lamina/slide';

/** Functions that one process runs for others. Arguments and results are cloned: bytes, numbers, texts and plain objects. */
export type CallTable = Readonly<Record<string, (signal: AbortSignal, ...args: never[]) => Promise<unknown>>>;

type ArgsOf<F> = F extends (signal: AbortSignal, ...args: infer A) => unknown ? A : never;
type ResultOf<F> = F extends (signal: AbortSignal, ...args: never[]) => Promise<infer R> ? R : never;

/** One end of the channel: in the child it is `process`, in the parent it is the child process. */
export interface Channel {
  send?(message: unknown, onSent: (error: Error | null) => void): boolean;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

interface CallMessage {
  readonly kind: 'call';
  readonly id: number;
  readonly name: string;
  readonly args: readonly unknown[];
}
interface CancelMessage {
  readonly kind: 'cancel';
  readonly id: number;
}
type AnswerMessage = {
  readonly kind: 'answer';
  readonly id: number;
} & (
  | { readonly value: unknown }
  | { readonly failure: { readonly code: SlideErrorCode; readonly message: string; readonly detail: string } }
);

function isCallMessage(message: unknown): message is CallMessage | CancelMessage | AnswerMessage {
  const { kind } = (message ?? {}) as { kind?: unknown };
  return kind === 'call' || kind === 'cancel' || kind === 'answer';
}

export interface Caller<T extends CallTable> {
  /** @throws SlideError what the other process throws; DECODE_FAILED when no process answers; the signal's reason */
  call<K extends keyof T & string>(
    name: K,
    args: ArgsOf<T[K]>,
    signal?: AbortSignal,
  ): Promise<ResultOf<T[K]>>;
}

export function createCaller<T extends CallTable>(channel: Channel): Caller<T> {
  /** Calls without an answer yet, by id. */
  const pendingCalls = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  let callCount = 0;

  function send(message: CallMessage | CancelMessage, id: number): void {
    const onSent = (error: Error | null) => {
      if (error === null) return;
      pendingCalls
        .get(id)
        ?.reject(new SlideError('DECODE_FAILED', 'No other process answers', { cause: error }));
      pendingCalls.delete(id);
    };
    channel.send?.(message, onSent);
  }

  channel.on('message', (message) => {
    if (!isCallMessage(message) || message.kind !== 'answer') return;
    const caller = pendingCalls.get(message.id);
    pendingCalls.delete(message.id);
    if ('value' in message) caller?.resolve(message.value);
    else caller?.reject(errorOf(message.failure));
  });

  return {
    async call<K extends keyof T & string>(name: K, args: ArgsOf<T[K]>, signal?: AbortSignal) {
      signal?.throwIfAborted();
      const id = callCount++;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      pendingCalls.set(id, { resolve, reject });
      const cancel = () => {
        pendingCalls.delete(id);
        send({ kind: 'cancel', id }, id);
        reject(signal?.reason as Error);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      send({ kind: 'call', id, name, args }, id);
      try {
        return (await promise) as ResultOf<T[K]>;
      } finally {
        signal?.removeEventListener('abort', cancel);
      }
    },
  };
}

/**
 * Answers the calls that arrive on the channel with the functions of the table.
 *
 * @param unexpected receives errors other than SlideError; the caller then gets DECODE_FAILED without details
 */
export function answerCalls(channel: Channel, table: CallTable, unexpected: (error: unknown) => void): void {
  const underWay = new Map<number, AbortController>();

  async function answer({ id, name, args }: CallMessage): Promise<AnswerMessage> {
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
    if (!isCallMessage(message)) return;
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
